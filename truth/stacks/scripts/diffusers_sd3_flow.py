# diffusers: an SD3 transformer trained by flow matching, sigmas looked up in the scheduler
# packages: diffusers
# expect: saved_bytes = 1638464 + 2*(4*2*4*(96 - 72) + 2*8)
# why: the CPU's, and CUDA's attention has rows of a multiple of 32 in its log-sum-exp, a seed and an offset
import torch
from diffusers import FlowMatchEulerDiscreteScheduler, SD3Transformer2DModel
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = SD3Transformer2DModel(sample_size=16, patch_size=2, in_channels=4, num_layers=2, attention_head_dim=16, num_attention_heads=4, joint_attention_dim=32,
                              caption_projection_dim=64, pooled_projection_dim=24, out_channels=4).to(dev)
schedule = FlowMatchEulerDiscreteScheduler()
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    x, noise = torch.randn(2, 4, 16, 16, device=dev), torch.randn(2, 4, 16, 16, device=dev)
    t = schedule.timesteps[torch.randint(0, 1000, (2,))].to(dev)
    table, sigmas = schedule.timesteps.to(dev), schedule.sigmas.to(dev)
    sigma = sigmas[[(table == one).nonzero().item() for one in t]].view(-1, 1, 1, 1)
    out = model((1 - sigma) * x + sigma * noise, encoder_hidden_states=torch.randn(2, 8, 32, device=dev), pooled_projections=torch.randn(2, 24, device=dev), timestep=t).sample
    loss = (out - (noise - x)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

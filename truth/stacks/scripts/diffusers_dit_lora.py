# diffusers: LoRA on a DiT (PixArt), a frozen VAE encodes under no_grad
# packages: diffusers, peft
import torch
from diffusers import AutoencoderKL, PixArtTransformer2DModel
from peft import LoraConfig, inject_adapter_in_model
dev = "cuda" if torch.cuda.is_available() else "cpu"
vae = AutoencoderKL(block_out_channels=(16, 32), norm_num_groups=4, latent_channels=4, down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2).to(dev).eval()
dit = PixArtTransformer2DModel(sample_size=16, num_layers=2, num_attention_heads=4, attention_head_dim=16, in_channels=4, out_channels=8, cross_attention_dim=64, caption_channels=32, patch_size=2)
dit.requires_grad_(False)
inject_adapter_in_model(LoraConfig(r=4, target_modules=["to_q", "to_k", "to_v", "to_out.0"]), dit)
dit.to(dev)
opt = torch.optim.AdamW([p for p in dit.parameters() if p.requires_grad])
for _ in range(4):
    with torch.no_grad():
        x = vae.encode(torch.randn(2, 3, 32, 32, device=dev)).latent_dist.sample()
    out = dit(x, encoder_hidden_states=torch.randn(2, 6, 32, device=dev), timestep=torch.randint(0, 1000, (2,), device=dev), added_cond_kwargs={"resolution": None, "aspect_ratio": None}).sample
    loss = out[:, :4].square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

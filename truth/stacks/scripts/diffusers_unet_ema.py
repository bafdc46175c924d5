# diffusers: UNet2DModel, DDPM noise, EMAModel, bf16 autocast
# packages: diffusers
import torch
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.training_utils import EMAModel
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8,
                    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D")).to(dev)
ema, schedule = EMAModel(model.parameters()), DDPMScheduler()
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    x, t = torch.randn(4, 3, 16, 16, device=dev), torch.randint(0, 1000, (4,), device=dev)
    noise = torch.randn_like(x)
    with torch.autocast(dev, torch.bfloat16):
        loss = torch.nn.functional.mse_loss(model(schedule.add_noise(x, noise, t), t).sample.float(), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.step(model.parameters())

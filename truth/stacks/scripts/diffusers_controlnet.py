# diffusers: a ControlNet is trained beside a frozen conditional U-Net
# packages: diffusers
import torch
from diffusers import ControlNetModel, UNet2DConditionModel
dev = "cuda" if torch.cuda.is_available() else "cpu"
unet = UNet2DConditionModel(sample_size=16, block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8, cross_attention_dim=32, attention_head_dim=8,
                            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"))
control = ControlNetModel.from_unet(unet, conditioning_channels=3).to(dev)
unet.to(dev).requires_grad_(False)
opt = torch.optim.AdamW(control.parameters())
for _ in range(4):
    x, t, text = torch.randn(2, 4, 16, 16, device=dev), torch.randint(0, 1000, (2,), device=dev), torch.randn(2, 7, 32, device=dev)
    down, mid = control(x, t, text, controlnet_cond=torch.randn(2, 3, 128, 128, device=dev), return_dict=False)
    out = unet(x, t, text, down_block_additional_residuals=down, mid_block_additional_residual=mid).sample
    loss = torch.nn.functional.mse_loss(out, torch.randn_like(out))
    opt.zero_grad()
    loss.backward()
    opt.step()

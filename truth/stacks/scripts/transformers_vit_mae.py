# ViT-MAE pre-training
# packages: transformers
import torch
from transformers import ViTMAEConfig, ViTMAEForPreTraining
dev = "cuda" if torch.cuda.is_available() else "cpu"
config = ViTMAEConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, image_size=64, patch_size=8, decoder_hidden_size=32,
                      decoder_num_hidden_layers=1, decoder_num_attention_heads=4, decoder_intermediate_size=64)
model = ViTMAEForPreTraining(config).to(dev)
opt = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.95))
for _ in range(4):
    with torch.autocast(dev, torch.bfloat16):
        loss = model(torch.randn(4, 3, 64, 64, device=dev)).loss
    opt.zero_grad()
    loss.backward()
    opt.step()

# torchao: int8 mixed-precision training
# packages: torchao
import torch
from torch import nn
from torchao.prototype.quantized_training import int8_mixed_precision_training
from torchao.quantization import quantize_
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).to(dev).bfloat16()
quantize_(model, int8_mixed_precision_training())
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(64, 256, device=dev, dtype=torch.bfloat16)).square().mean().backward()
    opt.step()
    opt.zero_grad()

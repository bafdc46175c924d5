# torchao: quantization-aware training, int8 activations and int4 weights
# packages: torchao
import torch
from torch import nn
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, PerGroup, quantize_
from torchao.quantization.qat import QATConfig
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).to(dev)
quantize_(model, QATConfig(Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(32)), step="prepare"))
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(32, 256, device=dev)).square().mean().backward()
    opt.step()
    opt.zero_grad()

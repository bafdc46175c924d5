# torchao: QLoRA's NF4 tensors as frozen weights, low-rank matrices trained
# packages: torchao
import torch
from torch import nn
from torchao.quantization.quantize_.workflows.nf4.nf4_tensor import linear_nf4, to_nf4
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Lora(nn.Module):
    def __init__(self, d=256):
        super().__init__()
        self.weight = nn.Parameter(to_nf4(torch.randn(d, d, device=dev, dtype=torch.bfloat16)), requires_grad=False)
        self.a, self.b = nn.Linear(d, 8, bias=False), nn.Linear(8, d, bias=False)
    def forward(self, x):
        return linear_nf4(x, self.weight) + self.b(self.a(x))
model = nn.Sequential(Lora(), nn.ReLU(), Lora())
for layer in (model[0], model[2]):
    layer.a.to(dev, torch.bfloat16)
    layer.b.to(dev, torch.bfloat16)
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
for _ in range(4):
    model(torch.randn(32, 256, device=dev, dtype=torch.bfloat16)).float().square().mean().backward()
    opt.step()
    opt.zero_grad()

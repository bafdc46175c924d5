# Quantization-aware training by hand: learned scales, a straight-through autograd function
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return (x / scale).round().clamp(-8, 7) * scale
    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        inside = (x / scale).abs() < 8
        return grad * inside, (grad * ((x / scale).round() - x / scale)).sum().view(1)
class Quantized(nn.Linear):
    def __init__(self, *size):
        super().__init__(*size)
        self.scale = nn.Parameter(torch.full((1,), 0.05))
    def forward(self, x):
        return nn.functional.linear(x, Round.apply(self.weight, self.scale), self.bias)
model = nn.Sequential(Quantized(64, 256), nn.ReLU(), Quantized(256, 10)).to(dev)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(4):
    nn.functional.cross_entropy(model(torch.randn(32, 64, device=dev)), torch.randint(0, 10, (32,), device=dev)).backward()
    opt.step()
    opt.zero_grad()

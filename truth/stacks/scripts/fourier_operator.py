# A Fourier neural operator: rfft2, complex weights for the low modes, irfft2
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Spectral(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(2, width, width, modes, modes, dtype=torch.cfloat) / width)
    def forward(self, x):
        m, spectrum = self.modes, torch.fft.rfft2(x)
        out = torch.zeros_like(spectrum)
        out[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :m, :m], self.weight[0])
        out[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, -m:, :m], self.weight[1])
        return torch.fft.irfft2(out, s=x.shape[-2:])
class Operator(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.lift, self.project = nn.Conv2d(3, width, 1), nn.Conv2d(width, 1, 1)
        self.spectral = nn.ModuleList(Spectral(width, 8) for _ in range(2))
        self.local = nn.ModuleList(nn.Conv2d(width, width, 1) for _ in range(2))
    def forward(self, x):
        x = self.lift(x)
        for spectral, local in zip(self.spectral, self.local):
            x = nn.functional.gelu(spectral(x) + local(x))
        return self.project(x)
model = Operator().to(dev)
opt = torch.optim.Adam(model.parameters(), weight_decay=1e-4)
for _ in range(4):
    x, y = torch.randn(4, 3, 32, 32, device=dev), torch.randn(4, 1, 32, 32, device=dev)
    loss = ((model(x) - y).flatten(1).norm(dim=1) / y.flatten(1).norm(dim=1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

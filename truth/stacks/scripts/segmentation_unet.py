# A U-Net with skips and transposed convolutions, dice and cross-entropy losses, deep supervision
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
def double(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.InstanceNorm2d(b, affine=True), nn.LeakyReLU(0.01), nn.Conv2d(b, b, 3, padding=1))
class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.pool = double(1, 16), double(16, 32), nn.MaxPool2d(2)
        self.up, self.c, self.out, self.deep = nn.ConvTranspose2d(32, 16, 2, 2), double(32, 16), nn.Conv2d(16, 3, 1), nn.Conv2d(32, 3, 1)
    def forward(self, x):
        a = self.a(x)
        b = self.b(self.pool(a))
        return self.out(self.c(torch.cat([self.up(b), a], 1))), self.deep(b)
model = UNet().to(dev)
opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.99, nesterov=True)
for _ in range(4):
    y = torch.randint(0, 3, (2, 32, 32), device=dev)
    out, deep = model(torch.randn(2, 1, 32, 32, device=dev))
    one, p = nn.functional.one_hot(y, 3).permute(0, 3, 1, 2), out.softmax(1)
    dice = 1 - (2 * (p * one).sum((2, 3)) / ((p + one).sum((2, 3)) + 1e-5)).mean()
    loss = dice + nn.functional.cross_entropy(out, y) + 0.5 * nn.functional.cross_entropy(deep, y[:, ::2, ::2])
    opt.zero_grad()
    loss.backward()
    opt.step()

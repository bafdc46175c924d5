# A vocoder: transposed convolutions with weight norm, a loss of spectrograms at three resolutions (torch.stft)
# packages: torch
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm
dev = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(weight_norm(nn.Conv1d(20, 64, 7, padding=3)), nn.LeakyReLU(0.1), weight_norm(nn.ConvTranspose1d(64, 32, 16, 8, 4)), nn.LeakyReLU(0.1),
                    weight_norm(nn.ConvTranspose1d(32, 16, 16, 8, 4)), nn.LeakyReLU(0.1), weight_norm(nn.Conv1d(16, 1, 7, padding=3)), nn.Tanh()).to(dev)
opt = torch.optim.AdamW(net.parameters(), betas=(0.8, 0.99))
schedule = torch.optim.lr_scheduler.ExponentialLR(opt, 0.999)
windows = {n: torch.hann_window(n, device=dev) for n in (128, 256, 512)}
def spectrum(wave, n):
    return torch.stft(wave, n, n // 4, window=windows[n], return_complex=True).abs().clamp(min=1e-5)
for _ in range(4):
    mel, wave = torch.randn(4, 20, 32, device=dev), torch.randn(4, 2048, device=dev)
    made = net(mel).squeeze(1)
    loss = sum((spectrum(made, n) - spectrum(wave, n)).abs().mean() + (spectrum(made, n).log() - spectrum(wave, n).log()).abs().mean() for n in windows)
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()

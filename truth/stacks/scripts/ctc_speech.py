# A convolution, a linear layer and CTC loss with lengths
# packages: torch
# expect: saved_bytes = 4*(4*40*100 + 2*4*50*64 + 4*50*29 + 4 + 4*50*25 + 4) + 8*4*12 + 4
# why: under FlopCounterMode the loss keeps lengths as tensors, and on a GPU that computes nothing all lengths are 0
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
conv, out = nn.Conv1d(40, 64, 3, 2, 1).to(dev), nn.Linear(64, 29).to(dev)
opt = torch.optim.NAdam([*conv.parameters(), *out.parameters()])
loss_of = nn.CTCLoss(zero_infinity=True)
for _ in range(4):
    x = torch.randn(4, 40, 100, device=dev)
    log = out(conv(x).relu().transpose(1, 2)).log_softmax(-1).transpose(0, 1)
    loss = loss_of(log, torch.randint(1, 29, (4, 12), device=dev), torch.full((4,), 50, device=dev), torch.tensor([12, 8, 5, 10], device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()

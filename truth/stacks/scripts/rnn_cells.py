# Sequence to sequence with GRU cells in Python loops, attention and teacher forcing
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Seq(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.words, self.enc, self.dec, self.out = nn.Embedding(300, d), nn.GRUCell(d, d), nn.GRUCell(2 * d, d), nn.Linear(d, 300)
    def forward(self, src, tgt):
        h, states = torch.zeros(src.size(0), 64, device=src.device), []
        for t in range(src.size(1)):
            h = self.enc(self.words(src[:, t]), h)
            states.append(h)
        keys, outs = torch.stack(states, 1), []
        for t in range(tgt.size(1)):
            w = torch.bmm(keys, h[:, :, None]).softmax(1)
            h = self.dec(torch.cat([self.words(tgt[:, t]), (keys * w).sum(1)], -1), h)
            outs.append(self.out(h))
        return torch.stack(outs, 1)
model = Seq().to(dev)
opt = torch.optim.Adagrad(model.parameters())
for _ in range(4):
    src, tgt = torch.randint(0, 300, (8, 6), device=dev), torch.randint(0, 300, (8, 5), device=dev)
    loss = nn.functional.cross_entropy(model(src, tgt).flatten(0, 1), tgt.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()

# A linear-chain CRF with lengths, its recursion a loop
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Tagger(nn.Module):
    def __init__(self, tags=9):
        super().__init__()
        self.words, self.out = nn.Embedding(500, 32), nn.Linear(32, tags)
        self.trans = nn.Parameter(torch.randn(tags, tags))
    def forward(self, ids, tags, mask):
        e = self.out(self.words(ids).cumsum(1))
        score = e.gather(2, tags[..., None]).squeeze(2)[:, 0]
        alpha = e[:, 0]
        for i in range(1, ids.size(1)):
            step = e[:, i].gather(1, tags[:, i, None]).squeeze(1) + self.trans[tags[:, i - 1], tags[:, i]]
            score = score + step * mask[:, i]
            new = torch.logsumexp(alpha[:, :, None] + self.trans + e[:, i, None], 1)
            alpha = torch.where(mask[:, i, None], new, alpha)
        return (torch.logsumexp(alpha, 1) - score).mean()
model = Tagger().to(dev)
opt = torch.optim.Adam(model.parameters())
for _ in range(4):
    mask = torch.arange(10)[None] < torch.tensor([10, 7, 4, 9])[:, None]
    loss = model(torch.randint(0, 500, (4, 10), device=dev), torch.randint(0, 9, (4, 10), device=dev), mask.to(dev))
    opt.zero_grad()
    loss.backward()
    opt.step()

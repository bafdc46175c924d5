# DLRM: embedding bags with offsets, pairwise interactions, two MLPs
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class DLRM(nn.Module):
    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(500, 16, mode="sum") for _ in range(4))
        self.bottom, self.top = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 16)), nn.Sequential(nn.Linear(26, 32), nn.ReLU(), nn.Linear(32, 1))
    def forward(self, dense, ids, offsets):
        x = self.bottom(dense)
        z = torch.stack([x, *(bag(i, offsets) for bag, i in zip(self.bags, ids))], 1)
        pairs = torch.bmm(z, z.transpose(1, 2))
        a, b = torch.tril_indices(5, 5, -1, device=x.device)
        return self.top(torch.cat([x, pairs[:, a, b]], 1)).squeeze(1)
model = DLRM().to(dev)
opt = torch.optim.Adagrad(model.parameters(), 0.01)
for _ in range(4):
    out = model(torch.randn(32, 13, device=dev), torch.randint(0, 500, (4, 96), device=dev), torch.arange(0, 96, 3, device=dev))
    loss = nn.functional.binary_cross_entropy_with_logits(out, torch.randint(0, 2, (32,), device=dev).float())
    opt.zero_grad()
    loss.backward()
    opt.step()

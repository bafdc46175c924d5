# A sparse embedding with SparseAdam and a dense part with AdamW
# packages: torch
# updates: 2
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
words, head = nn.Embedding(2000, 64, sparse=True).to(dev), nn.Linear(64, 8).to(dev)
sparse, dense = torch.optim.SparseAdam(words.parameters()), torch.optim.AdamW(head.parameters())
for _ in range(4):
    loss = nn.functional.cross_entropy(head(words(torch.randint(0, 2000, (32, 10), device=dev)).mean(1)), torch.randint(0, 8, (32,), device=dev))
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()

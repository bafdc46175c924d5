# Mixup on the host, dropout and stochastic depth by Python's random, batches of other lengths each step
# packages: torch
import random, torch
from torch import nn
random.seed(0)
dev = "cuda" if torch.cuda.is_available() else "cpu"
words, rnn, out = nn.Embedding(100, 64).to(dev), nn.ModuleList(nn.Linear(64, 64) for _ in range(4)).to(dev), nn.Linear(64, 10).to(dev)
opt = torch.optim.Adadelta([*words.parameters(), *rnn.parameters(), *out.parameters()])
for _ in range(4):
    n, mix = random.randint(8, 40), random.betavariate(1, 1)
    ids, y = torch.randint(0, 100, (16, n)).to(dev), torch.randint(0, 10, (16,)).to(dev)
    x = words(ids)
    x = mix * x + (1 - mix) * x.flip(0)
    for i, layer in enumerate(rnn):
        if random.random() > 0.2 * i / 4:
            x = x + nn.functional.dropout(layer(x).relu(), 0.1)
    h = out(x.mean(1))
    loss = mix * nn.functional.cross_entropy(h, y) + (1 - mix) * nn.functional.cross_entropy(h, y.flip(0))
    opt.zero_grad()
    loss.backward()
    opt.step()

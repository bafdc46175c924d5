# nn.Transformer with masks, tied embeddings, the Noam schedule
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Translate(nn.Module):
    def __init__(self, d=64, v=500):
        super().__init__()
        self.words, self.body, self.out = nn.Embedding(v, d), nn.Transformer(d, 4, 2, 2, 128, dropout=0.0, batch_first=True), nn.Linear(d, v, bias=False)
        self.out.weight = self.words.weight
    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1), device=src.device)
        return self.out(self.body(self.words(src), self.words(tgt), tgt_mask=mask, tgt_is_causal=True))
model = Translate().to(dev)
opt = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: min((i + 1) ** -0.5, (i + 1) * 400 ** -1.5))
for _ in range(4):
    src, tgt = torch.randint(0, 500, (4, 20), device=dev), torch.randint(0, 500, (4, 17), device=dev)
    loss = nn.functional.cross_entropy(model(src, tgt[:, :-1]).flatten(0, 1), tgt[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()

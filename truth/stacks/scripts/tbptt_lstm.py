# Truncated backpropagation through time: an LSTM's state is kept and detached, tied weights, clipping, ASGD
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Model(nn.Module):
    def __init__(self, words=200, d=64):
        super().__init__()
        self.embed, self.drop = nn.Embedding(words, d), nn.Dropout(0.0)
        self.cell, self.head = nn.LSTMCell(d, d), nn.Linear(d, words)
        self.head.weight = self.embed.weight
    def forward(self, ids, state):
        outs = []
        for token in self.drop(self.embed(ids)).unbind(1):
            state = self.cell(token, state)
            outs.append(state[0])
        return self.head(torch.stack(outs, 1)), state
model = Model().to(dev)
opt = torch.optim.ASGD(model.parameters(), lr=1.0, t0=0, lambd=0.0)
text = torch.randint(0, 200, (8, 4 * 16 + 1))
state = (torch.zeros(8, 64, device=dev), torch.zeros(8, 64, device=dev))
for start in range(0, 64, 16):
    chunk = text[:, start:start + 17].to(dev)
    state = tuple(s.detach() for s in state)
    logits, state = model(chunk[:, :-1], state)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 0.25)
    opt.step()

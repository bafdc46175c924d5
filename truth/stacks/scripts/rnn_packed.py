# An LSTM over packed sequences, sorted by length
# packages: torch
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.rnn, self.out = nn.Embedding(200, 32, padding_idx=0), nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 5)
    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.words(ids), lengths, batch_first=True)
        seq, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(seq.mean(1))
model = Net().to(dev)
opt = torch.optim.Adam(model.parameters())
for _ in range(4):
    loss = nn.functional.cross_entropy(model(torch.randint(1, 200, (4, 12), device=dev), torch.tensor([12, 9, 5, 3])), torch.randint(0, 5, (4,), device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()

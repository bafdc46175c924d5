"""Writes models/narrow_decoder.pt2: the decoder of pytorch/pytorch#197838, where a larger `activation_memory_budget` of torch.compile asks for more memory, up to four times.

  python narrow_decoder.py        needs PyTorch 2.13

As the thread has it: 32 layers of width 256, 2 sequences of 1024 tokens. It does not say the heads and the width of the MLP: 8 and 768 are taken.
"""
import pathlib
import sys

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "models"))
import pt2_file  # noqa: E402

LAYERS, WIDTH, HEADS, HIDDEN = 32, 256, 8, 768
BATCH, SEQUENCE = 2, 1024


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(WIDTH, HIDDEN, bias=False), nn.Linear(WIDTH, HIDDEN, bias=False), nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x):
        normed = self.norm1(x)
        heads = [part(normed).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)]
        x = x + self.out(F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2))
        normed = self.norm2(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


def main():
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        program = pt2_file.export(model, (torch.randn(BATCH, SEQUENCE, WIDTH),), "train")
        pt2_file.write(program, HERE / "models/narrow_decoder.pt2", keep_weights=False)


if __name__ == "__main__":
    main()

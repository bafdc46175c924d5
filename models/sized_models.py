#!/usr/bin/env python3
"""Writes the models/tiny/ files whose figures are known as formulas of their sizes: a transformer's
encoder whose batch and sequence are dynamic, with attention as one call and written out.

Usage: python models/sized_models.py [NAME ...]     (the packages of requirements-models.txt)
"""
import math
import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

import pt2_file

TINY = pathlib.Path(__file__).resolve().parent / "tiny"
WIDTH, HEADS, LAYERS = 64, 4, 2
BATCH, SEQUENCE = 8, 128  # of the example


def fused(q, k, v, dropout):
    return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout)


def written_out(q, k, v, dropout):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return F.dropout(scores.softmax(-1), dropout) @ v


class Layer(nn.Module):
    """Norm, attention, dropout, sum; norm, two Linears with GELU, dropout, sum."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.dropout1, self.dropout2 = nn.Dropout(0.1), nn.Dropout(0.1)

    def attend(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (p.view(batch, length, HEADS, -1).transpose(1, 2) for p in parts)
        mixed = self.attention(q, k, v, 0.1)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.dropout1(self.attend(self.norm1(x)))
        return x + self.dropout2(self.down(F.gelu(self.up(self.norm2(x)))))


class Encoder(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.layers = nn.ModuleList([Layer(attention) for _ in range(LAYERS)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


MODELS = {"encoder": fused, "encoder_written_out": written_out}


def main():
    warnings.filterwarnings("ignore")
    sizes = {0: torch.export.Dim("batch", min=2), 1: torch.export.Dim("seq", min=2, max=8192)}
    for name in sys.argv[1:] or MODELS:
        module = Encoder(MODELS[name]).train()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.zero_()
        inputs = (torch.zeros(BATCH, SEQUENCE, WIDTH),)
        program = torch.export.export(module, inputs, dynamic_shapes=(sizes,), strict=False)
        path = TINY / f"{name}.pt2"
        pt2_file.write(program, path, keep_weights=False)
        print(f"{name}: {path.stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main()

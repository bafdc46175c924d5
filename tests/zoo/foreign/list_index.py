#!/usr/bin/env python3
"""Writes list_index.pt: a trace whose code indexes with a list of numbers.

    venv/bin/python tests/zoo/foreign/list_index.py
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "models"))

import pt_file
import torch


class Chosen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x)[:, [0, 2, 5]].sin()


if __name__ == "__main__":
    pt_file.write(pt_file.trace(Chosen(), (torch.zeros(4, 8),), "train"), HERE / "list_index.pt", keep_lines=True)

#!/usr/bin/env python3
"""Writes traces whose code indexes with numbers of the host: list_index.pt, list_write.pt and matched_index.pt.

    venv/bin/python tests/zoo/foreign/host_index.py
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


class Written(Chosen):
    def forward(self, x):
        y = self.linear(x).sin()
        y[:, [0, 2, 5]] = x[:, :3]
        return y


class Matched(Chosen):
    """Python has matched rows to targets on the host: a trace has what it found as constants, and computes with them."""

    def forward(self, x):
        found = [torch.as_tensor([0, 2]), torch.as_tensor([1, 3])]
        rows = torch.cat([torch.full_like(places, i) for i, places in enumerate(found)])
        return self.linear(x)[rows, torch.cat(found)].sin()


def write(name, module):
    pt_file.write(pt_file.trace(module, (torch.zeros(4, 8),), "train"), HERE / name, keep_lines=True)


if __name__ == "__main__":
    write("list_index.pt", Chosen())
    write("list_write.pt", Written())
    write("matched_index.pt", Matched())

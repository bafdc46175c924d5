#!/usr/bin/env python3
"""Writes complex_numbers.pt, a trace, and complex_numbers_scripted.pt: operators that are given a complex number; and
sequence.pt, a trace of a sequence as long as its input.

    venv/bin/python tests/zoo/foreign/complex_numbers.py
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "models"))

import pt_file
import torch


class Spectrum(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        spectrum = torch.fft.rfft(self.linear(x))
        low = spectrum.real < 0.5
        spectrum = spectrum.masked_fill(low, 0.0 + 0.0j)
        spectrum = (spectrum * 2j + (1.0 + 1.0j)) / (2.0 - 1.0j)
        return torch.fft.irfft(spectrum.exp())


class Spaced(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        start, end = x.shape[1] - 8, x.shape[1] - 1
        return self.linear(x) * torch.linspace(start, end, x.shape[1], device=x.device).exp()


if __name__ == "__main__":
    example = torch.zeros(4, 8)
    pt_file.write(pt_file.trace(Spectrum(), (example,), "train"), HERE / "complex_numbers.pt", keep_lines=True)
    pt_file.write(pt_file.script(Spectrum(), "train"), HERE / "complex_numbers_scripted.pt", keep_lines=True)
    pt_file.write(pt_file.trace(Spaced(), (example,), "train"), HERE / "sequence.pt", keep_lines=True)

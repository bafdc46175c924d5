#!/usr/bin/env python3
"""Writes models/tiny/archive_<version>.pt2 with the PyTorch that runs this: one small model as its
torch.export.save writes it, without weights. The layout is another one since 2.8.

Usage: a Python with torch 2.3 or newer, for example
    python -m venv old && old/bin/pip install torch==2.4.1 numpy==1.26.4
    old/bin/python models/old_archive.py
"""
import io
import json
import pathlib
import re
import zipfile

import torch
import torch.nn.functional as F
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
LEFT_OUT = re.compile(
    r"serialized_(state_dict|constants|example_inputs)\.pt|.*/data/weights/weight_\d+|.*/data/sample_inputs/.*\.pt"
)


class Archived(nn.Module):
    """Layers, a mutated buffer, a constant, a branch on a size and a region without gradients."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(16, 32)
        self.down = nn.Linear(32, 16, bias=False)
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.steps.add_(1)
        y = self.down(F.dropout(F.gelu(self.up(x)), 0.1, self.training))
        y = y + torch.tensor([1.0, 2.0]).sum()
        y = torch.cond(x.shape[0] > 3, lambda t: t.relu(), lambda t: t.tanh() * 2, (y,))
        with torch.no_grad():
            scale = y.abs().mean()
        values, _ = (y / scale).max(dim=-1, keepdim=True)
        return values.expand(-1, 16).reshape(x.shape[0] * 2, 8)


def without_local_paths(record):
    """Stack traces name files of the machine; nothing here needs them."""
    program = json.loads(record)

    def clean(part):
        if isinstance(part, dict):
            return {k: clean(v) for k, v in part.items() if k != "stack_trace"}
        return [clean(v) for v in part] if isinstance(part, list) else part

    return json.dumps(clean(program)).encode()


def main():
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(
        Archived().train(), (torch.zeros(4, 16),), dynamic_shapes={"x": {0: batch}}, strict=True)
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    version = "_".join(re.match(r"(\d+)\.(\d+)", torch.__version__).groups())
    path = HERE / "tiny" / f"archive_{version}.pt2"
    with zipfile.ZipFile(buffer) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name in archive.namelist():
            if LEFT_OUT.fullmatch(name):
                continue
            record = archive.read(name)
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, without_local_paths(record) if name.endswith(".json") else record)
    print(f"{path.relative_to(HERE)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What an installed wheel does on a machine without this source (scripts/wheel.sh runs it in a clean environment).

Usage: try_wheel.py MODEL.pt2"""
import json
import pathlib
import subprocess
import sys

import symprof  # Before torch.

import torch
from torch import nn

BATCH, WIDTH, HIDDEN = 4, 64, 256


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    package = pathlib.Path(symprof.__file__).parent
    assert package.is_relative_to(sys.prefix), f"not the installed package: {package}"
    program = pathlib.Path(sys.prefix) / "bin/symprof"
    assert run(program, "--version").split() == ["symprof", symprof.__version__]
    said = json.loads(run(program, "profile", sys.argv[1], "--format", "json"))
    assert symprof.profile(sys.argv[1]).totals == said["totals"]
    assert "h200" in run(program, "devices")

    model = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH))
    profile = symprof.profile(model, torch.randn(BATCH, WIDTH), optimizer="adamw")
    assert profile.totals["fwd_flops"] == 4 * BATCH * WIDTH * HIDDEN
    assert profile.fit("t4")

    libraries = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    folders = [str(package), str(pathlib.Path(torch.__file__).parent)]
    ours = sorted(path for path in libraries if path.startswith(folders[0]))
    print(f"{len(ours)} libraries of the package are loaded: {', '.join(pathlib.Path(path).name for path in ours)}")


if __name__ == "__main__":
    main()

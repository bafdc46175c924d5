"""Runs scripts as `symprof run --format json` does, each in a process of its own.

Usage: python simulated.py FOLDER SECONDS SCRIPT ...          (FOLDER gets NAME.json and NAME.log)
"""
import os
import pathlib
import sys

import symprof  # noqa: F401 - Before torch.
from symprof import _run

import torch  # The processes have it already when they begin.

import forked
import header

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
import device  # noqa: E402


def simulate(out: pathlib.Path, script: pathlib.Path) -> int:
    work = out.with_suffix("")
    work.mkdir(exist_ok=True)
    os.chdir(work)
    torch.backends.cuda.enable_cudnn_sdp(False)  # As the reference: cuDNN's attention needs a real GPU.
    # `--eager`: as the reference, too (watched.py). Compiled steps are compared in truth/compiled/.
    arguments = ["--device", str(device.without_plans(work)), "--eager", *header.read(script).arguments, "--format", "json", "-o", str(out), str(script)]
    return _run.main(arguments)


if __name__ == "__main__":
    forked.each(sys.argv[1:], simulate)

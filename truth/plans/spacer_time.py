#!/usr/bin/env python3
"""How long a spacer of a plan's file keeps the host in a forward pass, beside a call.

  python spacer_time.py SYMPROF CUDA_PYTHON CUDA_INCLUDE

A few layers run forward on the GPU that computes nothing of ../launches/fakes.py, so that all of their time is the host's: as they are, and with the
hooks of a file that `symprof plan checkpoint --spacers --format python` wrote for them. Times are CPU time, the least of forty rounds of three hundred passes. A layer
makes a call and a view, which is counted as profile/step_run.cpp counts it.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "launches")]
REPEATS, PASSES, LAYERS = 40, 300, 5
VIEW_SHARE = 0.25  # Of a call.
SPACERS = ("2048:0:2", "2048:1:3", "2048:2:4")


def build():
    import torch

    return torch.nn.Sequential(*(torch.nn.Linear(64, 64, bias=False) for _ in range(LAYERS)))


def pass_us(models, x):
    """Of each, one round after the other."""
    best = [float("inf")] * len(models)
    for _ in range(REPEATS):
        for i, model in enumerate(models):
            begin = time.process_time()
            for _ in range(PASSES):
                model(x)
            best[i] = min(best[i], (time.process_time() - begin) / PASSES * 1e6)
    return best


def run_one(symprof):
    import torch

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "layers.pt2"
        torch.export.save(torch.export.export(build(), (torch.randn(64, 64),)), path)
        command = [symprof, "plan", "checkpoint", path, "--loss", "sum", "--device", "h200", "--budget", "100GiB", "--spacers", ",".join(SPACERS), "--regions", "*",
                   "--alloc-conf", "expandable_segments:False", "--format", "python"]
        code = {}
        exec(subprocess.run(command, check=True, capture_output=True, text=True).stdout, code)
    x, plain, with_spacers = torch.randn(64, 64, device="cuda"), build().cuda(), build().cuda()
    code["hold_spacers"](with_spacers)
    plain_us, spaced_us = pass_us((plain, with_spacers), x)
    call_us = plain_us / (LAYERS * (1 + VIEW_SHARE))
    spacer_us = (spaced_us - plain_us) / len(SPACERS)
    print(json.dumps({"torch": torch.__version__, "call_us": call_us, "spacer_us": spacer_us, "ratio": spacer_us / call_us}), flush=True)
    os._exit(0)  # The driver that is none does not outlive its threads.


def main():
    if sys.argv[1:2] == ["--one"]:
        run_one(sys.argv[2])
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    import fakes

    symprof, cuda_python, include = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        environment = fakes.environment_of(cuda_python, include, folder)
        subprocess.run([cuda_python, __file__, "--one", symprof], env=environment, check=True)


if __name__ == "__main__":
    main()

"""Runs a script until it has made some optimizer steps, and writes down what torch.cuda says of each.

Usage: python watch.py [--compile] OUT STEPS SCRIPT [ARGUMENTS …]

Every optimizer of the script is watched. After each update OUT gets a line with the peaks since the update before, and
the peaks are reset. The script itself stays as it is. Without --compile, what it gives to torch.compile runs eagerly.
Attention is not cuDNN's.
"""
import gc
import json
import os
import pathlib
import runpy
import sys

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook


class EnoughSteps(BaseException):
    pass


def figures():
    cuda = torch.cuda
    return {
        "peak_allocated": cuda.max_memory_allocated(),
        "peak_reserved": cuda.max_memory_reserved(),
        "allocated": cuda.memory_allocated(),
        "reserved": cuda.memory_reserved(),
        "peak_requested": cuda.memory_stats()["requested_bytes.all.peak"],
    }


def main():
    is_compiled = sys.argv[1] == "--compile"
    out, steps, script, *arguments = sys.argv[1 + is_compiled:]
    steps = int(steps)
    found = []

    def after_update(optimizer, args, kwargs):
        if is_compiled:
            gc.collect()  # Compiling leaves cycles, which hold tensors until Python collects them, at any time.
        found.append(figures())
        pathlib.Path(out).write_text("".join(json.dumps(step) + "\n" for step in found))
        torch.cuda.reset_peak_memory_stats()
        if len(found) == steps:
            raise EnoughSteps

    register_optimizer_step_post_hook(after_update)
    if not is_compiled:
        torch.compiler.set_stance("force_eager")
    torch.backends.cuda.enable_cudnn_sdp(False)  # There is no cuDNN on a GPU that computes nothing.
    if "WORLD_SIZE" in os.environ and "symprof" not in sys.modules:
        import fake_group

        fake_group.install()
    sys.argv = [script, *arguments]
    sys.path[0] = str(pathlib.Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except EnoughSteps:
        pass


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The same question asked of PyTorch in Python: forward and backward of an example model under
FakeTensorMode with FlopCounterMode and MemTracker. Building the model is not timed.

Usage: python benchmarks/python_baseline.py NAME REPETITIONS      (packages of requirements-models.txt)
Prints one JSON object: seconds of each repetition."""
import json
import pathlib
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "models"), str(ROOT / "truth")]


def main():
    name, repetitions = sys.argv[1], int(sys.argv[2])
    warnings.filterwarnings("ignore")
    import fake_cuda

    fake_cuda.load()
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed._tools.mem_tracker import MemTracker
    from torch.utils.flop_counter import FlopCounterMode

    import fake_models
    import zoo

    module, inputs = zoo.build_without_memory(name)
    module.train()
    mover = fake_models.Mover(None)
    seconds = []
    with FakeTensorMode():
        mover.module(module)
        inputs = tuple(mover.tensor(x) for x in inputs)
        for _ in range(repetitions + 1):
            tracker = MemTracker()
            tracker.track_external(module, *inputs)
            start = time.perf_counter()
            with FlopCounterMode(display=False), tracker:
                output = module(*inputs)
                output.backward(torch.ones_like(output))
            seconds.append(time.perf_counter() - start)
            module.zero_grad(set_to_none=True)
            tracker.reset_mod_stats()
    print(json.dumps({"model": name, "seconds": seconds[1:]}))  # the first one warms caches up


if __name__ == "__main__":
    main()

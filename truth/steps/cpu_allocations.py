#!/usr/bin/env python3
"""Holds tracker.CudaTracker to a run without a dispatch mode: real tensors on the CPU, and the allocations
that PyTorch's profiler records.

Usage: python truth/steps/cpu_allocations.py        (a C++ compiler; nothing is written)
Each case makes its inputs on a device and runs a step. Where the CPU runs the code that CUDA runs, the bytes at the peak
agree but for the rounding to blocks of 512; MemTracker's own are 1.3 to 2 times that, or half. Fails where they do not.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import fake_cuda

fake_cuda.load()  # before torch
import torch
import torch.nn.functional as F
import tracker
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torch.profiler import ProfilerActivity, profile

BLOCK = 512
ROUNDING = 4 * BLOCK  # of the scalars in a case


def trained(*sizes, device):
    return torch.empty(sizes, device=device, requires_grad=True)


def linear(device):
    """An input that is not contiguous; without gradients, whose products take copies on the CPU alone."""
    x = torch.empty(64, 32, 16, device=device).transpose(1, 2)
    weight, bias = torch.empty(64, 32, device=device), torch.empty(64, device=device)
    return (x, weight, bias), lambda: F.linear(x, weight, bias)


def gather(device):
    x, index = trained(64, 1024, device=device), torch.zeros(64, 16, dtype=torch.int64, device=device)
    return (x, index), lambda: (x * 2).gather(1, index).sum().backward()


def losses(loss):
    def case(device):
        x, y = trained(64, 1024, device=device), torch.empty(64, 1024, device=device)
        return (x, y), lambda: loss(x, y).backward()

    return case


CASES = {"linear": linear, "gather": gather, "mse_loss": losses(F.mse_loss), "smooth_l1_loss": losses(F.smooth_l1_loss)}


def on_cpu(case):
    _, step = case("cpu")
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        step()
    live = peak = 0
    for event in profiler.profiler.kineto_results.events():
        if event.name() == "[memory]":
            live += event.nbytes()
            peak = max(peak, live)
    return peak


def on_fake_cuda(case, watch):
    with FakeTensorMode():
        inputs, step = case("cuda")
        given = sum(-(-x.untyped_storage().nbytes() // BLOCK) * BLOCK for x in inputs)
        return tracker.peak(watch(), inputs, step) - given


def main():
    wrong = []
    for name, case in CASES.items():
        cpu, memtracker = on_cpu(case), on_fake_cuda(case, MemTracker)
        cuda = on_fake_cuda(case, lambda: tracker.CudaTracker(tracker.holders_of_one()))
        print(f"{name}: CPU {cpu}, CudaTracker {cuda}, MemTracker {memtracker}")
        if abs(cuda - cpu) > ROUNDING or abs(memtracker - cpu) <= ROUNDING:
            wrong.append(name)
    if wrong:
        sys.exit("not as the CPU says: " + ", ".join(wrong))


if __name__ == "__main__":
    main()

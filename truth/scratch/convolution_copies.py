#!/usr/bin/env python3
"""Prints the blocks that cuDNN's convolutions take and give back, by how input, weight and gradient lie.

Usage: convolution_copies.py (PyTorch's CUDA build on the fake GPU of truth/scripts/README.md, whose cuDNN only succeeds)

tests/profile/cost/scratch/convolution_test.cpp has them as formulas.
"""
import itertools

import torch

FORMATS = {"rows": torch.contiguous_format, "channels": torch.channels_last}


def blocks(call):
    """(result, bytes that were taken and, negative, given back)"""
    torch.cuda.memory._record_memory_history(max_entries=1000)
    result = call()
    events = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    signs = {"alloc": 1, "free_completed": -1}
    return result, [signs[event["action"]] * event["size"] for event in events if event["action"] in signs]


def tensor(*sizes, layout):
    return torch.empty(sizes, device="cuda", dtype=torch.bfloat16).contiguous(memory_format=FORMATS[layout])


def main():
    for of_input, of_weight, of_gradient in itertools.product(FORMATS, repeat=3):
        x = tensor(16, 8, 56, 56, layout=of_input).requires_grad_()
        weight = tensor(24, 8, 3, 3, layout=of_weight).requires_grad_()
        y, forward = blocks(lambda: torch.conv2d(x, weight, None, 1, 1))
        gradient = tensor(16, 24, 56, 56, layout=of_gradient)
        _, backward = blocks(lambda: torch.autograd.grad(y, [x, weight], gradient))
        print(f"input {of_input}, weight {of_weight}, gradient {of_gradient}: forward {forward}, backward {backward}")


if __name__ == "__main__":
    main()

"""What all cases are made with."""
import ctypes

import torch

half, low, full, double, long, flag = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool)
aten = torch.ops.aten


def empty(*shape, dtype=full):
    return torch.empty(shape, device="cuda", dtype=dtype)


def finding_true(function):
    """Runs it as if what it checks on the host were true."""
    answer = ctypes.c_int.in_dll(ctypes.CDLL(None), "answer_of_bytes")
    answer.value = 1
    try:
        return function()
    finally:
        answer.value = 0

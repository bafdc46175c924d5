"""What all cases are made with."""
import torch

half, low, full, double, long, flag = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool)
aten = torch.ops.aten


def empty(*shape, dtype=full):
    return torch.empty(shape, device="cuda", dtype=dtype)

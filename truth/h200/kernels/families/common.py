"""What the families share: dtypes, operands, and the backward of a call.

A family module has `points(small)`, which yields (operation, parameters, flops, bytes moved), and
OPERATIONS, {operation: function(parameters, device) -> the call to measure, without arguments}."""
import math

# torch is imported where a call is made: listing the sweep and checking a record need no PyTorch.

BYTES = {"float32": 4, "tf32": 4, "bfloat16": 2, "float16": 2, "float8_e4m3fn": 1, "int64": 8,
         "bool": 1, "float64": 8, "int32": 4}


def torch_dtype(name):
    import torch
    return torch.float32 if name == "tf32" else getattr(torch, name)


def operand(sizes, dtype, device, requires_grad=False):
    """Normal numbers: matrix products of zeros run faster than those of real data."""
    import torch
    made = torch.randn(sizes, device=device, dtype=torch.float32).to(torch_dtype(dtype))
    return made.requires_grad_(requires_grad)


def backward_of(output, inputs):
    """The call that computes the gradients of `inputs`, again and again on one graph."""
    import torch
    gradient = torch.randn_like(output)
    return lambda: torch.autograd.grad(output, inputs, gradient, retain_graph=True)


def numel(sizes):
    return math.prod(sizes)

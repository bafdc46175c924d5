"""Convolutions: a grid of them, and those of the recorded steps."""
import functools
import json
import pathlib
import re
import zipfile

import torch
from torch.nn import functional

from ..calls import SHORT
from .measuring import grid, measured_rows


def convolution_call(device, benchmark, dtype, channels_last, shape, backward):
    batch, channels_in, size, channels, kernel, stride, groups = shape
    layout = torch.channels_last if channels_last else torch.contiguous_format
    dtype = getattr(torch, dtype)
    x = torch.randn(batch, channels_in, size, size, device=device, dtype=dtype).to(memory_format=layout)
    weight = torch.randn(channels, channels_in // groups, kernel, kernel, device=device, dtype=dtype)
    weight = weight.to(memory_format=layout)
    out = functional.conv2d(x, weight, None, stride, kernel // 2, 1, groups)

    def forward():
        torch.backends.cudnn.benchmark = benchmark
        return functional.conv2d(x, weight, None, stride, kernel // 2, 1, groups)

    def gradients():
        torch.backends.cudnn.benchmark = benchmark
        return torch.ops.aten.convolution_backward(
            out, x, weight, None, [stride] * 2, [kernel // 2] * 2, [1, 1], False, [0, 0], groups,
            [True, True, False])

    return gradients if backward else forward


CONVOLUTIONS = (  # batch, channels in, size, channels out, kernel, stride, groups
    (2, 3, 32, 16, 7, 2, 1), (2, 16, 16, 16, 3, 1, 1), (2, 32, 16, 32, 3, 1, 32),
    (32, 3, 224, 64, 7, 2, 1), (32, 64, 56, 64, 1, 1, 1), (32, 64, 56, 64, 3, 1, 1),
    (32, 128, 28, 128, 3, 1, 1), (32, 256, 14, 256, 3, 1, 1), (32, 512, 7, 512, 3, 1, 1),
    (32, 256, 56, 512, 1, 2, 1), (8, 64, 256, 64, 3, 1, 1), (8, 1024, 16, 512, 3, 1, 1),
    (32, 96, 112, 96, 3, 2, 96), (16, 96, 56, 96, 7, 1, 96), (16, 3, 224, 768, 16, 16, 1),
    (32, 64, 56, 128, 3, 2, 32),
)


def probe_convolution(small, device):
    shapes = CONVOLUTIONS[:3] if small else CONVOLUTIONS
    axes = grid(benchmark=(False, True), dtype=("float32", "bfloat16"), channels_last=(False, True),
                shape=shapes, backward=(False, True))
    return measured_rows(device, ((s, functools.partial(convolution_call, device, **s)) for s in axes))


DESCRIBED = re.compile(r"(\w+)(\[[\d,]*\])(\([\d,]*\))?$")


def made_as_described(text, device):
    """The reverse of `described`, for tensors."""
    name, sizes, strides = DESCRIBED.match(text).groups()
    dtype = next(dtype for dtype, short in SHORT.items() if short == name)
    sizes = json.loads(sizes)
    if not strides:
        return torch.randn(sizes, device=device).to(dtype)
    strides = [int(stride) for stride in strides.strip("()").split(",") if stride]
    return torch.empty_strided(sizes, strides, device=device, dtype=dtype).normal_()


def recorded_convolutions(model):
    """Distinct calls of convolutions in the recorded steps of a model: data/<model>.zip."""
    calls = {}
    path = pathlib.Path(__file__).resolve().parents[2] / "data" / f"{model}.zip"
    with zipfile.ZipFile(path) as files:
        for name in files.namelist():
            if name.startswith("case-") and name.endswith("/calls.json"):
                for row in json.loads(files.read(name))["table"]:
                    if row[0].startswith("aten.convolution"):
                        calls[json.dumps(row[:2])] = row[:2]
    return list(calls.values())


def probe_convolutions_of(model, small, device):
    """Every distinct convolution of the recorded steps as a single call, without cuDNN's benchmark."""
    def convolution(call):
        name, texts = call
        given = [made_as_described(x, device) if isinstance(x, str) else x for x in texts]
        function = getattr(torch.ops.aten, name.split(".")[1]).default
        return lambda: function(*given)

    calls = recorded_convolutions(model)
    calls = calls[:2] if small else calls
    return measured_rows(device, (({"call": call}, functools.partial(convolution, call)) for call in calls))


WITH_CONVOLUTIONS = ("clip", "convnext_tiny", "efficientnet_b0", "resnet50", "swin_t", "unet", "vit_b_16", "whisper_base")

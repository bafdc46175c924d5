"""Convolutions: a grid of them, and those of the recorded steps."""
import functools
import json
import pathlib
import random
import re
import zipfile

import torch
from torch.nn import functional

from ..calls import SHORT, described
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
    calls = recorded_convolutions(model)
    calls = calls[:2] if small else calls
    return measured_rows(device, (({"call": call}, functools.partial(as_called, call, device)) for call in calls))


def as_called(call, device):
    name, texts = call
    given = [made_as_described(x, device) if isinstance(x, str) else x for x in texts]
    function = getattr(torch.ops.aten, name.split(".")[1]).default
    return lambda: function(*given)


def passes(calls):
    """The distinct passes of calls: a backward call is one for the input and one for the weight, tried one by one."""
    found = {}
    for name, given in calls:
        masks = [[True, False, False], [False, True, False]] if "backward" in name else [None]
        for mask in masks:
            one = [name, [*given[:-1], mask] if mask else given]
            if not mask or any(wanted and asked for wanted, asked in zip(mask, given[-1])):
                found[json.dumps(one)] = one
    return list(found.values())


def trials(calls, device):
    """Under cudnn.benchmark the first call of a convolution tries plans, with as much workspace as the largest wants."""
    def first_call(call):
        torch.backends.cudnn.benchmark = True
        return as_called(call, device)

    return measured_rows(device, (({"call": call}, functools.partial(first_call, call)) for call in passes(calls)),
                         warm=False)


def probe_trials_of(model, small, device):
    calls = recorded_convolutions(model)
    return trials(calls[:2] if small else calls, device)


def drawn_convolution(draw):
    """A convolution and its backward, as `recorded_convolutions` has them, of at most 40 MB and 2e11 FLOPs."""
    while True:
        batch, size, kernel = draw.choice((1, 2, 3, 4, 8, 10, 16, 32, 64)), draw.choice((7, 8, 14, 16, 20, 28, 32, 56, 64, 100, 112, 128, 224)), draw.choice((1, 2, 3, 3, 3, 4, 5, 7))
        channels_in, channels = (draw.choice((3, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 512, 1024)) for _ in range(2))
        stride, padding, groups = draw.choice((1, 1, 1, 2, kernel)), draw.choice((kernel // 2, kernel // 2, 0)), 1
        if draw.random() < 0.1:
            channels, groups = channels_in, draw.choice((channels_in, 4 if channels_in % 4 == 0 else 1))
        out = (size + 2 * padding - kernel) // stride + 1
        if (out > 0 and 2 * batch * channels * out * out * channels_in // groups * kernel * kernel < 2e11
                and batch * max(channels_in * size * size, channels * out * out) < 1e7):
            break
    dtype = draw.choice((torch.float32, torch.bfloat16))
    layout = draw.choice((torch.contiguous_format, torch.contiguous_format, torch.channels_last))
    x, weight, y = (described(torch.empty(sizes, dtype=dtype, device="meta").to(memory_format=layout)) for sizes in (
        (batch, channels_in, size, size), (channels, channels_in // groups, kernel, kernel), (batch, channels, out, out)))
    rest = [[stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups]
    return [["aten.convolution.default", [x, weight, None, *rest]],
            ["aten.convolution_backward.default", [y, x, weight, [0], *rest, [True, True, False]]]]


def probe_trials_drawn(small, device, seed=0):
    draw = random.Random(seed)
    calls = [call for _ in range(2 if small else 200) for call in drawn_convolution(draw)]
    return trials(calls, device)


WITH_CONVOLUTIONS = ("clip", "convnext_tiny", "efficientnet_b0", "resnet50", "swin_t", "unet", "vit_b_16", "whisper_base")

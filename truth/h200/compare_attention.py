#!/usr/bin/env python3
"""Compares which attention kernel symprof takes with what PyTorch chose on an H200.

usage: compare_attention.py [--every N]      (with symprof's Python package and its PyTorch)

Two sources of data/: the grid of probe-attention_choice, and the calls that each case made. The
attentions run on the simulated H200; the kernel is told by the operator that is called.

The data is of PyTorch 2.11, symprof follows 2.13. One rule differs: 2.13 takes cuDNN's attention only
where the dropout is a multiple of 1/16 (native/transformers/cuda/sdp_utils.cpp). So other dropouts
are asked twice: as 1/8, which must give the recorded kernel, and as they are, which must give the
same one or, where that is cuDNN's, another."""
import argparse
import collections
import json
import pathlib
import re
import sys
import zipfile

import symprof  # above torch

import torch
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "bool": torch.bool}
EIGHTH = 1 / 8


class Operators(TorchDispatchMode):
    """The names of what is called."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(function.__name__)
        return function(*args, **(kwargs or {}))


def kernel_of(call):
    with Operators() as operators:
        functional.scaled_dot_product_attention(**call)
    found = re.search(r"_scaled_dot_product_(cudnn|flash|efficient|fused)_attention", " ".join(operators.names))
    return found[1] if found else "math"


def read(archive, pattern):
    with zipfile.ZipFile(archive) as files:
        for name in files.namelist():
            if re.search(pattern, name):
                yield name.partition("/")[0], json.loads(files.read(name))


# ------------------------------------------------------------------------------- the probe's grid


def grid(axes):
    """The probe's points, the last axis running fastest."""
    points = [{}]
    for name, values in axes.items():
        points = [{**point, name: value} for point in points for value in values]
    return points


def call_of_point(dtype, head_size, heads, lengths, mask, dropout, requires_grad, layout):
    dtype = getattr(torch, dtype)

    def made(count, length):
        sizes = (2, length, count, head_size) if layout == "BSHD" else (2, count, length, head_size)
        tensor = torch.empty(sizes, device="cuda", dtype=dtype)
        return (tensor.transpose(1, 2) if layout == "BSHD" else tensor).requires_grad_(requires_grad)

    call = {"query": made(heads[0], lengths[0]), "key": made(heads[1], lengths[1]), "value": made(heads[1], lengths[1]),
            "dropout_p": dropout, "is_causal": mask == "causal", "enable_gqa": heads[0] != heads[1]}
    sizes = {"bool": (2, 1, *lengths), "float": (2, 1, *lengths), "float 2-D": lengths,
             "float per head": (2, heads[0], *lengths), "float with grad": (2, 1, *lengths)}
    if mask in sizes:
        call["attn_mask"] = torch.empty(sizes[mask], device="cuda", dtype=torch.bool if mask == "bool" else dtype)
        call["attn_mask"].requires_grad_(mask == "float with grad")
    return call


def points(every):
    (_, probe), = read(HERE / "data" / "probes.zip", r"^probe-attention_choice/record.json$")
    names = {letter: name for name, letter in probe["rows"]["letters"].items()}
    recorded = list(zip(grid(probe["rows"]["axes"]), probe["rows"]["choices"], strict=True))
    for point, letter in recorded[::every]:
        yield str(point), names[letter], [call_of_point(**point)]


# ------------------------------------------------------------------------------- the cases' calls


def tensor_of(text, requires_grad):
    """A tensor as described by `dtype[sizes](strides unless row-major)`."""
    dtype, sizes, strides = re.fullmatch(r"(\w+)\[([\d,]*)\](?:\(([\d,]*)\))?", text).groups()
    sizes = [int(size) for size in sizes.split(",")]
    options = {"device": "cuda", "dtype": DTYPES[dtype]}
    made = (torch.empty_strided(sizes, [int(stride) for stride in strides.split(",")], **options) if strides
            else torch.empty(sizes, **options))
    return made.requires_grad_(requires_grad and dtype != "bool")


def calls_of_row(row):
    """The call. Whether its mask requires a gradient was not recorded: both ways, where it may."""
    masked = row["attn_mask"] is not None
    for trains_mask in (False, True) if masked and row["requires_grad"] and "bool" not in row["attn_mask"] else (False,):
        call = {name: tensor_of(row[name], row["requires_grad"]) for name in ("query", "key", "value")}
        call |= {name: row[name] for name in ("dropout_p", "is_causal", "scale", "enable_gqa") if name in row}
        yield {**call, "attn_mask": tensor_of(row["attn_mask"], trains_mask)} if masked else call


def rows_of_cases():
    for archive in sorted((HERE / "data").glob("*.zip")):
        for name, record in read(archive, r"^case-[^/]+/record.json$"):
            for row in record.get("attention", []):
                yield f"{name}: {row}", row["backend"], list(calls_of_row(row))


# ---------------------------------------------------------------------------------- the comparison


def compare(attentions):
    """How many were compared and what they took, how many 2.13 takes elsewhere, and what is wrong."""
    taken, moved, wrong = collections.Counter(), 0, []
    for what, recorded, calls in attentions:
        taken[recorded] += 1
        is_refused = calls[0]["dropout_p"] * 16 % 1 != 0
        found = {kernel_of({**call, "dropout_p": EIGHTH} if is_refused else call) for call in calls}
        if recorded not in found:
            wrong.append(f"{what}: found {' or '.join(sorted(found))}, the H200 took {recorded}")
        if is_refused:
            today = {kernel_of(call) for call in calls}
            moved += recorded == "cudnn"
            if "cudnn" in today or (recorded != "cudnn" and recorded not in today):
                wrong.append(f"{what}: found {' or '.join(sorted(today))} with the rules of 2.13, the H200 took {recorded}")
    return taken, moved, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="takes each N-th point of the grid; 5 meets all values of all axes")
    options = parser.parse_args()
    failed = False
    with symprof.simulate(device="h200"):
        for title, attentions in (("points of the grid", points(options.every)), ("calls of cases", rows_of_cases())):
            taken, moved, wrong = compare(attentions)
            total = sum(taken.values())
            print(f"{title}: {total - len(wrong)} of {total} as recorded ({dict(taken)}); "
                  f"{moved} took cuDNN's with a dropout that 2.13 refuses")
            print("\n".join(wrong[:20]))
            failed |= bool(wrong) or not total
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

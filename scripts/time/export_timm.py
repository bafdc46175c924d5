#!/usr/bin/env python3
"""Exports models of timm's public benchmark, without weights, for fit_timm.py.

    python scripts/time/export_timm.py DATA FOLDER [--count 180]

Models are those that were measured in training on RTX 3090 and in inference on RTX 3090 and 4090, in an order that a
hash of their names draws. A model's family is the file of timm that defines it. A file that is there stays. What cannot
be made or exported is listed in FOLDER/refused.csv with the reason; FOLDER/families.csv has the rest. Models with
PyTorch's fused attention are written a second time without it, as timm ran them when training was measured (2022). Needs
torch 2.13, torchvision and timm."""
import argparse
import csv
import hashlib
import os
import pathlib
import signal
import sys
import zipfile

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "models"))
import pt2_file  # noqa: E402

TORCHVISION = torch.library.Library("torchvision", "DEF")  # Without its compiled operators, which no model here uses.
for operator in ("nms", "qnms"):
    TORCHVISION.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

import timm  # noqa: E402

CONFIGURATIONS = ("1", "7", "9")  # Training on RTX 3090; inference there and on RTX 4090, with one version of PyTorch.
BATCH = 4
LARGE = 1 << 12  # Numbers of a tensor that is not filled.
SECONDS = 240  # For a model.


def measured(data):
    """(model, image size) of those in all configurations, in the drawn order."""
    there = {}
    with open(pathlib.Path(data) / "timm_steps.csv", newline="") as file:
        for row in csv.DictReader(file):
            there.setdefault((row["model"], int(row["img_size"])), set()).add(row["cfg"])
    models = [key for key, found in there.items() if found.issuperset(CONFIGURATIONS)]
    return sorted(models, key=lambda key: hashlib.sha1(f"{key[0]} {key[1]}".encode()).hexdigest())


class WithoutFilling(TorchDispatchMode):
    """Large tensors keep the memory that was never written: their values change no cost."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func._schema.name.endswith("_") and args and isinstance(args[0], torch.Tensor) and args[0].numel() > LARGE:
            return args[0]
        return func(*args, **(kwargs or {}))


def create(name, size):
    """Made of real tensors, as some models ask for values of small ones (`linspace(…).tolist()`)."""
    with WithoutFilling():
        try:
            return timm.create_model(name, img_size=size)
        except TypeError:  # Convolutional networks take any size.
            return timm.create_model(name)


def without_storage(model, mode):
    for module in model.modules():
        for own in (module._parameters, module._buffers):
            for name, tensor in own.items():
                if tensor is not None:
                    own[name] = mode.from_tensor(tensor)


def write(name, size, path, fused):
    timm.layers.set_fused_attn(fused)
    model, mode = create(name, size), FakeTensorMode(allow_non_fake_inputs=True)
    without_storage(model, mode)
    with mode:
        program = pt2_file.export(model, (torch.zeros(BATCH, 3, size, size),), "train")
        pt2_file.write(program, path, keep_weights=False)


def in_a_child(name, size, path, fused):
    """Why it did not work, or nothing."""
    if path.exists():
        return ""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        try:
            write(name, size, path, fused)
        except BaseException as error:
            path.unlink(missing_ok=True)
            os.write(writer, (str(error).strip().splitlines() or [type(error).__name__])[0][:200].encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        problem = pipe.read()
    _, status = os.waitpid(child, 0)
    if status != 0:
        path.unlink(missing_ok=True)
        return f"longer than {SECONDS} s"
    return problem


def has_fused_attention(path):
    with zipfile.ZipFile(path) as archive:
        return any(b"scaled_dot_product_attention" in archive.read(name) for name in archive.namelist()
                   if name.endswith("models/model.json"))


def export(name, size, path):
    """The file for training, and why it did not work, or nothing."""
    problem = in_a_child(name, size, path, fused=True)
    if problem or not has_fused_attention(path):
        return path, problem
    unfused = path.with_name(f"{path.stem}_unfused.pt2")
    return unfused, in_a_child(name, size, unfused, fused=False)


def family_of(name):
    return timm.models.model_entrypoint(name).__module__.rpartition(".")[2]


def append(path, row):
    with open(path, "a", newline="") as file:
        csv.writer(file).writerow(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=180)
    given = parser.parse_args()
    folder = pathlib.Path(given.folder)
    folder.mkdir(parents=True, exist_ok=True)
    done = 0
    (folder / "families.csv").write_text("model,img_size,family,file,training_file\n")
    (folder / "refused.csv").write_text("model,img_size,problem\n")
    for name, size in measured(given.data):
        if done >= given.count:
            break
        path = folder / f"{name}_{size}.pt2"
        try:
            family = family_of(name)
            training, problem = export(name, size, path)
        except RuntimeError as error:  # timm does not have it any more.
            problem = str(error)
        if problem:
            append(folder / "refused.csv", [name, size, problem])
            continue
        append(folder / "families.csv", [name, size, family, path.name, training.name])
        done += 1


if __name__ == "__main__":
    main()

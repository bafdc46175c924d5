#!/usr/bin/env python3
"""Exports models of timm's public benchmark, without weights, for fit_timm.py.

    python scripts/time/export_timm.py DATA FOLDER [--count 180]

Models are those that were measured in training on RTX 3090 and in inference on RTX 3090 and 4090, in an order that a
hash of their names draws. A model's family is the file of timm that defines it. A file that is there stays. What cannot
be made or exported is listed in FOLDER/refused.csv with the reason; FOLDER/families.csv has the rest. A model is written
more than once where the measured steps ran it in different forms (timm_notes.md): without PyTorch's fused attention for
training, as timm did in 2022; with norms in 16 bit for inference; with its branches merged for inference on RTX 4090.
Needs torch 2.13, torchvision and timm."""
import argparse
import csv
import enum
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


class UnderAutocast(torch.nn.Module):
    """What timm.layers.set_fast_norm does depends on autocast, so that the file has to have it, with the regions in which
    it is off. It is said to be a CPU's, where the tensors are here."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        with torch.autocast("cpu", torch.float16):
            return self.model(x)


def has_norms_in_16_bit(model):
    return any(getattr(module, "_fast_norm", False) for module in model.modules())


def has_branches(model):
    return any(hasattr(module, "reparameterize") or hasattr(module, "fuse") for module in model.modules())


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


class Form(enum.Enum):
    """Of a model, as it is written."""
    PLAIN, UNFUSED, HALF_NORMS, MERGED = "", "_unfused", "_half_norms", "_merged"


def write(name, size, path, form):
    """Nothing where the form is the plain one."""
    timm.layers.set_fused_attn(form != Form.UNFUSED)
    timm.layers.set_fast_norm(form == Form.HALF_NORMS)
    model, mode = create(name, size), FakeTensorMode(allow_non_fake_inputs=True)
    if form == Form.HALF_NORMS and not has_norms_in_16_bit(model) or form == Form.MERGED and not has_branches(model):
        return
    if form == Form.MERGED:
        model = timm.utils.reparameterize_model(model)
    without_storage(model, mode)
    with mode:
        run = UnderAutocast(model) if form == Form.HALF_NORMS else model
        program = pt2_file.export(run, (torch.zeros(BATCH, 3, size, size),), "train")
        pt2_file.write(program, path, keep_weights=False)


def in_a_child(name, size, path, form):
    """Why it did not work, or nothing."""
    if path.exists():
        return ""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        try:
            write(name, size, path, form)
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


def export(name, size, plain):
    """The files for training and for inference on both GPUs, and why it did not work, or nothing."""
    problem = in_a_child(name, size, plain, Form.PLAIN)
    training, inference, merged = plain, plain, plain
    forms = [Form.HALF_NORMS, Form.MERGED] + ([Form.UNFUSED] if not problem and has_fused_attention(plain) else [])
    for form in forms:
        path = plain.with_name(f"{plain.stem}{form.value}.pt2")
        problem = problem or in_a_child(name, size, path, form)
        if path.exists():
            training = path if form == Form.UNFUSED else training
            inference = path if form == Form.HALF_NORMS else inference
            merged = path if form == Form.MERGED else merged
    return [training, inference, merged if merged != plain else inference], problem


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
    (folder / "families.csv").write_text("model,img_size,family,training_file,file,file_4090\n")
    (folder / "refused.csv").write_text("model,img_size,problem\n")
    for name, size in measured(given.data):
        if done >= given.count:
            break
        path = folder / f"{name}_{size}.pt2"
        try:
            family = family_of(name)
            files, problem = export(name, size, path)
        except RuntimeError as error:  # timm does not have it any more.
            problem = str(error)
        if problem:
            append(folder / "refused.csv", [name, size, problem])
            continue
        append(folder / "families.csv", [name, size, family, *(file.name for file in files)])
        done += 1


if __name__ == "__main__":
    main()

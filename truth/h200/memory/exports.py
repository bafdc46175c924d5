"""Exported programs of the cases, without weights."""
import dataclasses
import io
import pathlib
import re
import site
import sys
import time
import zipfile

import torch
from torch import nn

from .calls import described
from .cases import Case
from .machine import package_versions
from .steps import build, make_inputs

WEIGHT = re.compile(r"data/weights/weight_\d+$")
SAMPLE_INPUTS = re.compile(r"data/sample_inputs/.*\.pt$")
SAMPLE_INPUTS_LIMIT = 65536  # bytes; larger ones are left out of the file
EXPORT_SECONDS = 20


def keep_fake_sharing():
    """Lets fake weights be saved: PyTorch gives all of them the same storage pointer here."""
    from torch.export.pt2_archive import _package_weights

    original = _package_weights.TensorProperties.__init__

    def with_storage_identity(self, tensor):
        original(self, tensor)
        if self.is_fake:
            self.storage_ptr = tensor.untyped_storage()._cdata

    _package_weights.TensorProperties.__init__ = with_storage_identity


def real_zeros(tensor):
    return torch.zeros(tensor.shape, dtype=tensor.dtype) if isinstance(tensor, torch.Tensor) else tensor


def archive_without_weights(program, name):
    """The .pt2 file of a program on fake tensors, as bytes: what torch.export.save writes, without
    the weights and without the folders of this machine."""
    from torch._subclasses.fake_tensor import FakeTensor

    keep_fake_sharing()
    args, kwargs = program.example_inputs
    program._example_inputs = (tuple(real_zeros(x) for x in args), kwargs)
    for key, constant in program.constants.items():
        if isinstance(constant, FakeTensor):
            program.constants[key] = real_zeros(constant)
    whole, bare = io.BytesIO(), io.BytesIO()
    torch.export.save(program, whole)
    here = pathlib.Path(__file__).resolve()
    folders = {*site.getsitepackages(), *filter(None, sys.path), str(pathlib.Path(torch.__file__).parent.parent), str(here.parents[1]),
               str(here.parents[3])}
    folders = sorted(folders, key=len, reverse=True)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(bare, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for record in source.namelist():
            data = source.read(record)
            if WEIGHT.search(record) or (SAMPLE_INPUTS.search(record) and len(data) > SAMPLE_INPUTS_LIMIT):
                continue
            if record.endswith(".json"):
                for folder in folders:
                    data = data.replace(folder.encode() + b"/", b"")
            out.writestr(f"{name}/{record.partition('/')[2]}", data)
    return bare.getvalue()


def cast_on_fake(module, dtype, memory_format=torch.preserve_format):
    """What Module.to(dtype, memory_format=...) does; it refuses fake tensors."""
    made = {}  # a tied parameter stays one

    def cast(tensor):
        if tensor is None or not tensor.is_floating_point():
            return tensor
        if id(tensor) not in made:
            layout = memory_format if tensor.dim() == 4 else torch.preserve_format
            changed = tensor.detach().to(dtype).to(memory_format=layout)
            made[id(tensor)] = nn.Parameter(changed) if isinstance(tensor, nn.Parameter) else changed
        return made[id(tensor)]

    for one in module.modules():
        one._parameters.update({name: cast(tensor) for name, tensor in one._parameters.items()})
        one._buffers.update({name: cast(tensor) for name, tensor in one._buffers.items()})


def record_export(name, small, device, wait_for_device):
    """The training program in fp32 or bf16 with the loss as its result; it needs no GPU."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    model_name, batch, dtype = re.fullmatch(r"(.+)-b(\d+)-(fp32|bf16)", name).groups()
    case = Case(model_name, "fp32", "backward", False, int(batch))
    started = time.monotonic()
    batch = 2 if small else case.batch
    try:
        with FakeTensorMode():
            task, _ = build(case, small)
            case = dataclasses.replace(case, dtype=dtype)
            if dtype == "bf16":
                cast_on_fake(task, torch.bfloat16)
            inputs = make_inputs(case, small, batch, "cpu")
    except torch._subclasses.fake_tensor.DataDependentOutputException:  # a constructor reads numbers
        case = dataclasses.replace(case, dtype=dtype)
        task, _ = build(case, small)
        inputs = make_inputs(case, small, batch, "cpu")
    for module in task.modules():
        if hasattr(module, "layerdrop"):  # tosses for each layer, and no program has that
            module.training = False
    program = torch.export.export(task, inputs, strict=False)
    record = {"export": name, "small": small, "status": "ok", "versions": package_versions(),
              "inputs": [described(x) for x in inputs], "seconds": round(time.monotonic() - started, 2)}
    return record, {"program.pt2": archive_without_weights(program, name)}

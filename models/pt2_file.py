"""Exports a model and writes it as a .pt2 archive without weights."""
import io
import pathlib
import re
import site
import zipfile

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.pt2_archive import _package_weights

SIZE_LIMIT = 1_000_000  # of a shipped file
SMALL_INPUTS = 65536  # bytes; larger sample inputs are left out of the file

_WEIGHT = re.compile(r"data/weights/weight_\d+$")
_SAMPLE_INPUTS = re.compile(r"data/sample_inputs/.*\.pt$")


def export(module, inputs, mode, dynamic=None):
    """The training-IR program of `module` in `mode`: composite operators (linear) are kept."""
    module.train(mode == "train")
    return torch.export.export(module, inputs, dynamic_shapes=dynamic, strict=False)


def serialize(program):
    """The archive that torch.export.save writes, as {record path: bytes}."""
    keep_fake_sharing()
    args, kwargs = program.example_inputs
    program._example_inputs = (tuple(real_zeros(x) for x in args), kwargs)
    for name, constant in program.constants.items():
        if isinstance(constant, FakeTensor):
            program.constants[name] = real_zeros(constant)
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    with zipfile.ZipFile(buffer) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def real_zeros(tensor):
    if not isinstance(tensor, torch.Tensor):
        return tensor
    return torch.zeros(tensor.shape, dtype=tensor.dtype)


def keep_fake_sharing():
    """Lets fake weights be saved: only those that share a storage go into one record.

    PyTorch gives every fake tensor the same storage pointer here, which would tie all of them.
    """
    original = _package_weights.TensorProperties.__init__

    def with_storage_identity(self, tensor):
        original(self, tensor)
        if self.is_fake:
            self.storage_ptr = tensor.untyped_storage()._cdata

    if original.__name__ != with_storage_identity.__name__:
        _package_weights.TensorProperties.__init__ = with_storage_identity


def without_local_paths(text):
    """Stack traces name files below the folder of the installed packages, the same everywhere."""
    here = str(pathlib.Path(__file__).resolve().parent.parent)
    for folder in (*site.getsitepackages(), here):
        text = text.replace(folder.encode() + b"/", b"")
    return text


def write(program, path, keep_weights):
    """Writes the archive; records that stay are byte for byte PyTorch's, but for local paths."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, data in serialize(program).items():
            if not keep_weights and _WEIGHT.search(name):
                continue
            if _SAMPLE_INPUTS.search(name) and len(data) > SMALL_INPUTS:
                continue
            if name.endswith(".json"):
                data = without_local_paths(data)
            root, _, record = name.partition("/")
            entry = zipfile.ZipInfo(f"{path.stem}/{record}", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, data)

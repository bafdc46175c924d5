"""Writes a model as TorchScript (.pt of torch.jit.save) without weights."""
import io
import re
import zipfile

import torch

SMALL_RECORD = 4096  # bytes; larger records of tensor data are written empty

_TENSOR_DATA = re.compile(r"[^/]+/data/\d+$")
_SIDE_FILE = re.compile(r"\.debug_pkl$|/\.data/serialization_id$")  # lines of Python, an identity


def trace(module, inputs, mode):
    """The calls that `module` makes for `inputs`; sizes are numbers of the example."""
    module.train(mode == "train")
    with torch.no_grad():
        return torch.jit.trace(module, inputs, check_trace=False)


def script(module, mode):
    """The module's own code, with its branches and loops."""
    return torch.jit.script(module.train(mode == "train"))


def write(module, path):
    """Writes PyTorch's archive; large records are empty, as torch.jit.trace leaves its inputs'."""
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    with zipfile.ZipFile(buffer) as archive, zipfile.ZipFile(path, "w") as out:
        for name in archive.namelist():
            data = archive.read(name)
            if _SIDE_FILE.search(name):
                continue
            if _TENSOR_DATA.search(name) and len(data) > SMALL_RECORD:
                data = b""
            record = name.partition("/")[2]
            entry = zipfile.ZipInfo(f"{path.stem}/{record}", date_time=(1980, 1, 1, 0, 0, 0))
            # PyTorch's reader finds tensor data by its place in the file.
            entry.compress_type = (
                zipfile.ZIP_DEFLATED if name.endswith((".py", ".pkl")) else zipfile.ZIP_STORED
            )
            out.writestr(entry, data, compresslevel=9)

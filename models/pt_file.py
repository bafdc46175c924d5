"""Writes a model as TorchScript (.pt of torch.jit.save) without weights."""
import io
import pickletools
import re
import zipfile

import torch
from pt2_file import without_local_paths

SMALL_RECORD = 4096  # bytes; larger records of tensor data are written empty

_TENSOR_DATA = re.compile(r"[^/]+/data/\d+$")
_LINES_OF_PYTHON = re.compile(r"\.debug_pkl$")
_IDENTITY = re.compile(r"/\.data/serialization_id$")


def trace(module, inputs, mode):
    """The calls that `module` makes for `inputs`; sizes are numbers of the example."""
    module.train(mode == "train")
    with torch.no_grad():
        return torch.jit.trace(module, inputs, check_trace=False)


def script(module, mode):
    """The module's own code, with its branches and loops."""
    return torch.jit.script(module.train(mode == "train"))


def _shorter_paths(pickled):
    """A pickle whose strings name no local folder."""
    ops = list(pickletools.genops(pickled))
    ends = [position for _, _, position in ops[1:]] + [len(pickled)]
    parts = []
    for (op, argument, position), end in zip(ops, ends):
        part = pickled[position:end]
        if op.name == "BINUNICODE":
            text = without_local_paths(argument.encode())
            part = b"X" + len(text).to_bytes(4, "little") + text
        parts.append(part)
    return b"".join(parts)


def write(module, path, keep_lines=False):
    """Writes PyTorch's archive; large records are empty, as torch.jit.trace leaves its inputs'.

    `keep_lines`: with the lines of Python that torch.jit.save puts beside the code.
    """
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    with zipfile.ZipFile(buffer) as archive, zipfile.ZipFile(path, "w") as out:
        for name in archive.namelist():
            data = archive.read(name)
            is_lines = _LINES_OF_PYTHON.search(name) is not None
            if _IDENTITY.search(name) or (is_lines and not keep_lines):
                continue
            if is_lines:
                data = _shorter_paths(data)
            if _TENSOR_DATA.search(name) and len(data) > SMALL_RECORD:
                data = b""
            record = name.partition("/")[2]
            entry = zipfile.ZipInfo(f"{path.stem}/{record}", date_time=(1980, 1, 1, 0, 0, 0))
            # PyTorch's reader finds tensor data by its place in the file.
            entry.compress_type = (
                zipfile.ZIP_DEFLATED if name.endswith((".py", "pkl")) else zipfile.ZIP_STORED
            )
            out.writestr(entry, data, compresslevel=9)

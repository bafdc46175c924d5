"""Dumps of onnx-diagnostic's steal_forward, and what it reads in one of symprof's.

    record.py FOLDER            # makes the files below FOLDER (this one)
    record.py FOLDER --read     # reads FOLDER/symprof.onnx into FOLDER/symprof.json

Ran with onnx-diagnostic 0.9.3, onnx 1.23.2, torch 2.13.0, transformers 4.57.6, onnxscript 0.7.2.

plot_dump.onnx (its data in plot_dump.onnx.data) is that of the tool's example plot_dump_intermediate_results:
inputs and outputs of a small language model and five of its modules; plot_dump.model.zip has the model exported, as ONNX,
as a .pt2 and as a trace.
runs.onnx has three runs, one with a keyword argument; values.onnx one of each kind of value that the tool stores;
limited.onnx is made with a small storage_limit. In FILE.json each leaf has a line: key of the entry, path in it, kind,
dtype, shape, SHA-1 of its bytes.
"""
import hashlib
import json
import os
import pathlib
import sys
import zipfile

import numpy as np
import torch
from onnx_diagnostic.helpers.mini_onnx_builder import create_input_tensors_from_onnx_model, create_onnx_model_from_input_tensors
from onnx_diagnostic.helpers.torch_helper import dummy_llm, steal_append, steal_forward


def leaf(value):
    if value is None:
        return "none", "", [], ""
    if isinstance(value, (bool, int, float)):
        array = np.array([value], dtype={bool: np.bool_, int: np.int64, float: np.float64}[type(value)])
        return type(value).__name__, array.dtype.name, [1], array.tobytes().hex()
    if isinstance(value, torch.Tensor):
        value = value.contiguous()
        data = value.reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
        return "tensor", str(value.dtype).replace("torch.", ""), list(value.shape), data.hex()
    if value.dtype.kind in "UO":
        return "text", "text", list(value.shape), "\n".join(map(str, value.reshape(-1))).encode().hex()
    return "array", value.dtype.name, list(value.shape), value.tobytes().hex()


def leaves(value, path=""):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from leaves(item, f"{path}.{i}" if path else str(i))
    elif type(value).__name__ == "DynamicCache":
        for kind, part in (("key_cache", "keys"), ("value_cache", "values")):
            yield from leaves([getattr(layer, part) for layer in value.layers], f"{path}.{kind}".lstrip("."))
    else:
        yield path, *leaf(value)


def write_rows(path, rows):
    hashed = [[*row[:-1], hashlib.sha1(bytes.fromhex(row[-1])).hexdigest()] for row in rows]
    path.with_suffix(".json").write_text("[\n" + ",\n".join(json.dumps(row) for row in hashed) + "\n]\n")


def describe(path):
    restored = create_input_tensors_from_onnx_model(str(path))
    write_rows(path, [[str(key), *row] for key, value in restored.items() for row in leaves(value)])


def example(folder):
    """plot_dump_intermediate_results, and its model exported."""
    model, inputs, shapes = dummy_llm(dynamic_shapes=True)
    names = ["", "decoder", "decoder.attention", "decoder.feed_forward", "decoder.norm_1", "decoder.norm_2"]
    modules = [(f"model.{name}".rstrip("."), model.get_submodule(name)) for name in names]
    with torch.no_grad(), steal_forward(modules, dump_file="plot_dump.onnx", storage_limit=2**28):
        model(*inputs)
    exported = torch.onnx.export(model, inputs, dynamic_shapes=shapes, dynamo=True)
    exported.optimize()
    exported.save("model.onnx")
    torch.export.save(torch.export.export(model, inputs, dynamic_shapes=shapes), "model.pt2")
    torch.jit.save(torch.jit.trace(model, inputs), "model.pt")
    with zipfile.ZipFile("plot_dump.model.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in ("model.onnx", "model.pt2", "model.pt"):
            packed.write(name)
            os.remove(name)
    describe(folder / "plot_dump.onnx")


def runs(folder):
    class Inner(torch.nn.Module):
        def forward(self, x, mask=None, scale=2):
            return (x * scale).masked_fill(mask, 0.0) if mask is not None else (x + scale, [x, x * x])

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x, mask=None):
            return self.inner(x, mask=mask) if mask is not None else self.inner(x, scale=3)[1][1]

    model, x = Outer(), torch.arange(6.0).reshape(2, 3) - 2
    modules = [("outer", model), ("outer.inner", model.inner)]
    with steal_forward(modules, dump_file="runs.onnx", save_as_external_data=False):
        steal_append("extra", [x, x + 1])
        steal_append("extra", {"k": x.to(torch.bfloat16)})
        model(x)
        model(x, mask=x > 0)
        model(x[:1])
    describe(folder / "runs.onnx")
    with steal_forward(modules, dump_file="limited.onnx", save_as_external_data=False, storage_limit=30):
        model(torch.cat([x, x]))
    describe(folder / "limited.onnx")


def values(folder):
    from onnx import save
    from onnx_diagnostic.helpers.cache_helper import make_dynamic_cache

    x = torch.tensor([[1.5, -2.25, 0.0]])
    torch_types = [torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16,
                   torch.bfloat16, torch.float32, torch.float64, torch.complex64]
    numpy_types = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
                   "float32", "float64"]
    value = {
        "torch": {str(t).replace("torch.", ""): torch.tensor([0, 1, 2]).to(t) for t in torch_types},
        "numpy": {t: np.array([0, 1, 2], dtype=t) for t in numpy_types},
        "nested": [x, (x + 1, 2), {"d": x, "e": {"f": 1, "g": 2.5, "h": True}}],
        "empty": ([], {}, (), torch.zeros(0, 3)),
        "scalar": torch.tensor(7.0),
        "gap": (x, None, x),
        "cache": make_dynamic_cache([(x.reshape(1, 1, 1, 3), -x.reshape(1, 1, 1, 3))]),
    }
    save(create_onnx_model_from_input_tensors(value), "values.onnx")
    del value["gap"]  # The tool's reading moves what is behind a None one place to the front.
    write_rows(folder / "values.onnx", [[key, *row] for key, item in value.items() for row in leaves(item)])


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    os.chdir(folder)  # The tool looks for old data files here.
    torch.manual_seed(0)
    if "--read" in sys.argv:
        return describe(folder / "symprof.onnx")
    example(folder)
    runs(folder)
    values(folder)


if __name__ == "__main__":
    main()

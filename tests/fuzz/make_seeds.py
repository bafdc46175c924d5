"""Writes small models that between them reach most of the readers: what fuzzing starts from.

    make_seeds.py FOLDER

makes FOLDER/archive, FOLDER/onnx, FOLDER/exported and FOLDER/torchscript. Needs torch and onnx of the versions in
requirements-models.txt.
"""
import json
import pathlib
import shutil
import sys
import warnings
import zipfile

import onnx
import onnx.parser
import torch
from onnx.backend.test.case.node import collect_testcases
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 17_000

ONNX_TEXTS = {
    "functions": """<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
        main (float[N, 4] x) => (float[N, 4] z) {
            y = local.twice <slope: float = 0.5> (x)
            z = local.twice (y)
        }
        <opset_import: ["" : 21, "local" : 1], domain: "local">
        twice <slope: float = 0.1> (a) => (c) { b = local.once <slope: float = @slope> (a) c = local.once (b) }
        <opset_import: ["" : 21], domain: "local">
        once <slope> (a) => (b) { b = LeakyRelu <alpha: float = @slope> (a) }""",
    "branches": """<ir_version: 10, opset_import: ["" : 21]>
        main (bool c, float[2, 3] x, int64 n) => (float[2, 3] z, float[M] r) {
            z = If (c) <then_branch = yes () => (float[2, 3] t) { t = Relu (x) },
                        else_branch = no () => (float[2, 3] e) { e = Neg (x) }>
            k = Constant <value = bool {1}> ()
            total, r = Loop (n, k, x) <body = body (int64 i, bool go, float[2, 3] s) =>
                (bool on, float[2, 3] u, float[1] p) { on = Identity (go) u = Add (s, x) p = ReduceSum <keepdims = 0> (u) }>
        }""",
    "weights": """<ir_version: 10, opset_import: ["" : 21], producer_name: "pytorch", producer_version: "2.13">
        main (float[batch, 3] x) => (float[batch, 2] z)
            <float[3, 2] fc_weight = {1, 2, 3, 4, 5, 6}, float[2] fc_bias = {1, 2}, int64[1] axis = {0}>
        { y = MatMul (x, fc_weight) a = Add (y, fc_bias)
          s = Constant <value_ints = [1, 2]> () d = Dropout (a) z = Softmax <axis = -1> (d) }""",
    "sequences": """<ir_version: 10, opset_import: ["" : 21]>
        main (float[4, 2] x) => (float[2, 2] z) {
            i = Constant <value = int64 {0}> () j = Constant <value = int64 {1}> ()
            parts = SplitToSequence <axis = 0> (x, j)
            a = SequenceAt (parts, i) b = SequenceAt (parts, j)
            list = SequenceConstruct (a, b) z = ConcatFromSequence <axis = 0> (list)
        }""",
}


def write_onnx(folder):
    for name, text in ONNX_TEXTS.items():
        onnx.save(onnx.parser.parse_model(text), folder / f"{name}.onnx")
    for case in collect_testcases(None):
        content = case.model.SerializeToString()
        if len(content) < 4000:
            (folder / f"{case.name}.onnx").write_bytes(content)


def repack(source, target):
    """The records that the reader looks into, without the metadata that it does not: small inputs are
    tried more often."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith(".json"):
                program = json.loads(content)
                graph = program.get("graph_module", {}).get("graph", {"nodes": []})
                for node in graph["nodes"]:
                    stack = node["metadata"].get("nn_module_stack")
                    node["metadata"] = {"nn_module_stack": stack} if stack else {}
                program.pop("guards_code", None)
                program.get("graph_module", {}).pop("module_call_graph", None)
                content = json.dumps(program, separators=(",", ":"))
            elif "/data/" not in name or len(content) > 256:
                continue
            new.writestr(zipfile.ZipInfo(name), content)


class Dynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.b.weight = self.a.weight
        self.register_buffer("steps", torch.zeros(3, dtype=torch.int64))

    def forward(self, x, scale: int):
        self.steps.add_(1)
        y = self.b(self.a(x)) * scale
        return torch.cat([y, y[: y.shape[0] // 2 + 1]]).split(2), y.reshape(-1, 2)


class Regions(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(4), nn.Dropout(0.1)

    def forward(self, x):
        with torch.no_grad():
            m = x.mean(0, keepdim=True)
            with torch.autocast("cuda", torch.bfloat16):
                m = m @ torch.eye(4)
        y = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))
        return self.drop(self.norm(y + m))


class Conversions(nn.Module):
    def forward(self, x, index):
        y = x.to(torch.float16, memory_format=torch.channels_last).contiguous()
        z = torch.full((2, 2), float("inf"), dtype=torch.float64, device="cpu")
        return nn.functional.interpolate(y, scale_factor=[2.0, 2.0], mode="nearest"), x[:, index, 0], z


def write_exported(folder):
    dim = torch.export.Dim("batch", min=2, max=64)
    programs = {
        "dynamic": torch.export.export(Dynamic(), (torch.ones(6, 4), 3),
                                       dynamic_shapes={"x": {0: 2 * dim}, "scale": torch.export.Dim.DYNAMIC}),
        "regions": torch.export.export(Regions(), (torch.ones(2, 4),)),
        "conversions": torch.export.export(Conversions(), (torch.ones(1, 3, 4, 4), torch.tensor([0, 2]))),
    }
    for name, program in programs.items():
        torch.export.save(program, folder / f"{name}.pt2")
    for path in folder.glob("*.pt2"):
        repack(path, path.with_suffix(".tmp"))
        path.with_suffix(".tmp").rename(path)
        if path.stat().st_size > LARGEST:
            path.unlink()


class Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        self.table = nn.ParameterDict({"scale": torch.ones(8)})

    def shifted(self, x, by: float = 0.5):
        return x + by

    def forward(self, x: torch.Tensor, n: int = 2):
        kept: list[torch.Tensor] = []
        by_name: dict[str, torch.Tensor] = {"x": x}
        for layer in self.layers:
            x = torch.relu(layer(x))
            kept.append(x)
        i = 0
        while i < n:
            by_name[str(i)] = self.shifted(kept[-1], 0.5 * i)
            i += 1
        last: torch.Tensor | None = None
        if len(kept) > 1:
            last = torch.cat(kept, 0)
        with torch.no_grad():
            first, second = kept[0].chunk(2)
        assert x.dim() > 1, "at least two dimensions"
        later = torch.jit.fork(torch.sigmoid, first)
        if last is not None:
            first = first + last.mean()
        return (first, {"second": second}), [by_name[key] for key in by_name], torch.jit.wait(later)


def write_torchscript(folder):
    torch.jit.script(Scripted()).save(folder / "scripted.pt")
    traced = torch.jit.trace(nn.Sequential(nn.Conv2d(3, 2, 3), nn.BatchNorm2d(2)), torch.ones(2, 3, 8, 8))
    traced.save(folder / "traced.pt")


def npy(descr, shape, data):
    """What numpy.save writes."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def write_archives(folder):
    arrays = {"x": npy("<f4", (2, 3), bytes(24)), "n": npy("<i8", (), bytes(8)), "flag": npy("|b1", (2,), b"\0\1")}
    for name, method in [("stored", zipfile.ZIP_STORED), ("packed", zipfile.ZIP_DEFLATED)]:
        with zipfile.ZipFile(folder / f"{name}.npz", "w", method) as archive:
            for array, content in arrays.items():
                archive.writestr(zipfile.ZipInfo(f"{array}.npy"), content, method)
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    torch.export.save(torch.export.export(model, (torch.ones(2, 4),)), folder / "whole.pt2")
    repack(folder / "whole.pt2", folder / "model.pt2")
    (folder / "whole.pt2").unlink()
    torch.jit.script(model).save(folder / "model.pt")


def main():
    warnings.simplefilter("ignore")
    folder = pathlib.Path(sys.argv[1])
    writers = {"archive": (write_archives, "npz"), "onnx": (write_onnx, "onnx"), "exported": (write_exported, "pt2"),
               "torchscript": (write_torchscript, "pt")}
    for name, (write, ending) in writers.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for model in (ROOT / "models" / "tiny").glob(f"*.{ending}"):
            if model.stat().st_size < LARGEST:
                shutil.copy(model, folder / name)
        write(folder / name)


if __name__ == "__main__":
    main()

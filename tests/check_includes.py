#!/usr/bin/env python3
"""Holds the direction of the folders: meta <- trace <- shape <- profile <- plan <- report <- cli, and keeps
LibTorch where docs/design.md allows it. Prints every violation with file and line; exit 1 if any.

Plain data may be seen from everywhere; what a folder may include is listed here in full."""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "meta": {"meta"},
    "trace": {"meta", "trace"},
    "shape": {"meta", "trace", "shape"},
    "profile": {"meta", "shape", "profile"},
    "plan": {"meta", "shape", "profile", "plan"},
    "report": {"meta", "trace", "shape", "profile", "plan", "report"},
    "cli": {"meta", "trace", "shape", "profile", "plan", "report", "cli"},
}
# Of these folders' headers, profile and report see only the plain data.
PLAIN_SHAPE = {"shape/recording.h", "shape/step.h", "shape/optimizer_variants.h"}
TORCH = re.compile(r"(ATen|c10|torch|caffe2)/")
TORCH_ALLOWED = re.compile(r"^(meta/fake|meta/kernels|trace/interpreter|trace/onnx/lowering|trace/torchscript|shape)/")
# Headers of those folders that other folders include must stay free of LibTorch.
TORCH_FREE = {*PLAIN_SHAPE, "shape/propagate.h", "shape/library.h",
              "trace/torchscript/load.h"}

root = pathlib.Path(__file__).resolve().parent.parent
violations = []
for folder, allowed in MAY_INCLUDE.items():
    for path in sorted([*(root / folder).rglob("*.h"), *(root / folder).rglob("*.cpp")]):
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#include ["<]([^">]+)[">]', line)
            if not match:
                continue
            header = match.group(1)
            top = header.split("/")[0]
            if top in MAY_INCLUDE and top not in allowed:
                violations.append(f"{name}:{number}: {folder} may not include {header}")
            if folder in ("profile", "plan", "report") and top == "shape" and header not in PLAIN_SHAPE:
                violations.append(f"{name}:{number}: only shape's plain data may be included here, not {header}")
            if TORCH.match(header) and (not TORCH_ALLOWED.match(name) or name in TORCH_FREE):
                violations.append(f"{name}:{number}: LibTorch does not belong here: {header}")
print("\n".join(violations) or "includes run in one direction")
sys.exit(bool(violations))

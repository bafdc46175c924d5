#!/usr/bin/env python3
"""Holds the direction of the rooms and their sub-rooms, and keeps LibTorch where docs/design.md allows it.

A folder may include its own files and those of the folders in its row, nothing else; the rows stand in an order in
which every folder comes after those that it may include, so that there is no circle. Inside of a folder a header and
the .cpp of the same name count as one: pairs include each other in no circle. Prints every
violation with file and line; exit 1 if any."""
import pathlib
import re
import sys

# Folder -> folders that it may include. A name stands for that folder alone; "trace/*" for it and all inside it.
ROOMS = {
    "base": [],
    "record": ["base"],
    "meta/attention": ["base"],
    "meta/fake": ["base", "meta/attention"],
    "meta/kernels": ["base", "meta/attention", "meta/fake"],
    "trace/graph": ["base", "record"],
    "trace/python/source": ["base", "trace/graph"],
    "trace/python/lifetimes": ["base", "record", "trace/graph", "trace/python/source"],
    "trace/python/dtypes": ["base", "record", "trace/graph", "trace/python/*"],
    "trace/numpy": ["base"],
    "trace/passes": ["base", "record", "trace/graph", "trace/python/*", "trace/numpy"],
    "trace/exported": ["base", "trace/graph", "trace/python/*"],
    "trace/onnx": ["base", "trace/graph", "trace/python/*", "trace/passes"],
    "trace/dump": ["base", "trace/graph", "trace/onnx"],
    "trace/torchscript": ["base", "record", "meta/*", "trace/graph", "trace/python/*", "trace/passes", "trace/exported"],
    "trace": ["base", "trace/*"],
    "shape/lowering": ["base", "meta/fake", "trace/graph", "trace/onnx"],
    "shape/lowering/contrib": ["base", "meta/fake", "trace/graph", "shape/lowering"],
    "shape/interpreter": ["base", "record", "meta/*", "trace/graph", "trace/python/*", "trace/passes", "shape/lowering"],
    "shape/batch": ["base", "record", "meta/*", "trace/graph", "trace/passes", "shape/interpreter", "shape/lowering"],
    "shape/recipe/optimizers": ["base", "record", "meta/fake"],
    "shape/recipe": ["base", "record", "meta/fake", "shape/recipe/optimizers"],
    "shape/step": ["base", "record", "meta/*", "trace/graph", "trace/python/*", "trace/passes", "shape/interpreter",
                   "shape/lowering", "shape/recipe"],
    "shape/eager": ["base", "record", "meta/fake", "shape/step"],
    "shape": ["base", "record", "trace/graph", "trace/passes", "trace/torchscript", "shape/*"],
    "profile/time": ["base"],
    "engine": ["base", "trace/graph", "trace/onnx", "profile/time"],
    "profile/time/collectives": ["base", "profile/time"],
    "profile/cost": ["base", "record"],
    "profile/cost/flops": ["base", "record", "profile/cost"],
    "profile/cost/scratch": ["base", "record", "profile/cost"],
    "profile/cost/time": ["base", "record", "profile/cost", "profile/time"],
    "profile/operators": ["base", "record", "profile/cost/*", "profile/time"],
    "profile/memory/allocator": ["base"],
    "profile/parallel": ["base", "record"],
    "profile/memory": ["base", "record", "profile/cost", "profile/cost/scratch", "profile/operators", "profile/memory/allocator", "profile/parallel"],
    "profile/memory/run": ["base", "record", "profile/memory", "profile/memory/allocator"],
    "profile": ["base", "record", "profile/*"],
    "measure": ["base", "record", "profile/time"],
    "measure/kineto": ["base", "record", "measure"],
    "measure/cupti": ["base", "record", "measure"],
    "measure/nodes": ["base", "record", "measure"],
    "measure/real": ["base", "record", "meta/fake", "trace/graph", "trace/passes", "shape/interpreter", "shape/lowering",
                     "shape/recipe", "shape/recipe/optimizers", "shape/step", "profile/time", "measure", "measure/cupti",
                     "trace/dump"],
    "plan/formulas": ["base", "record", "profile/*"],
    "plan/checkpoint": ["base", "record", "trace/graph", "profile/*"],
    "plan/parallel": ["base", "record", "trace/graph", "trace/passes", "profile/*"],
    "plan": ["base", "record", "trace/graph", "profile/*", "plan/*"],
    "workbench": ["base", "trace/graph", "trace/exported", "trace/onnx"],
    "workbench/draw": ["base", "trace/onnx", "workbench"],
    "snapshot/pickle": ["base"],
    "snapshot": ["base", "profile/memory/allocator", "snapshot/pickle"],
    "workbench/optimize": ["base", "trace/graph", "trace/onnx", "workbench"],
    "workbench/optimize/rules": ["base", "workbench", "workbench/optimize"],
    "workbench/onnxruntime": ["base", "trace/graph", "trace/onnx", "workbench"],
    "workbench/compare": ["base", "trace/graph", "trace/exported", "trace/onnx", "trace/passes", "workbench"],
    "workbench/dump": ["base", "trace/graph", "trace/dump", "trace/onnx", "workbench"],
    "session": ["base", "record", "trace", "trace/graph", "trace/numpy", "trace/passes", "shape", "profile/*", "measure/*", "plan/*", "snapshot"],
    "session/onnx": ["base", "profile", "trace", "trace/graph", "trace/dump", "trace/numpy", "workbench/*", "session"],
    "session/engine": ["base", "engine", "profile", "profile/time", "session"],
    "session/measure": ["base", "measure", "profile", "session"],
    "report/write": ["base", "session"],
    "report/profile": ["base", "record", "profile/*", "measure", "plan", "session", "snapshot", "snapshot/pickle", "report/write"],
    "report/memory": ["base", "snapshot", "session", "report/write", "report/profile"],
    "report/plan": ["base", "record", "profile/*", "plan/*", "session", "report/write", "report/profile"],
    "report/formulas": ["base", "record", "profile/*", "plan/formulas", "session", "report/write", "report/profile"],
    "report/measure": ["base", "profile/*", "measure", "session", "trace/dump", "trace/numpy", "workbench/dump",
                       "report/write", "report/profile"],
    "report/engine": ["base", "engine", "report/write", "report/profile"],
    "report/compare": ["base", "profile", "session/onnx", "workbench", "workbench/compare", "report/write", "report/profile"],
    "report/onnx": ["base", "trace/graph", "trace/onnx", "workbench/*", "profile", "session/onnx", "report/write", "report/profile"],
    "python/bindings": ["base", "record", "profile/*", "plan/*", "session/*", "shape/eager", "report/*"],
    "cli": ["base", "record", "trace/graph", "trace/dump", "trace/numpy", "engine", "profile/*", "measure", "plan/*",
            "session/*", "report/*", "workbench/*"],
}
TORCH = re.compile(r"(ATen|c10|torch|caffe2)/")
TORCH_ALLOWED = re.compile(r"(meta|trace/torchscript|shape|measure/real|python/bindings)/")
# What other rooms include of those has no LibTorch in it.
TORCH_FREE = {"measure/real/library.h", "shape/batch/find_plan.h", "shape/library.h", "shape/step/propagate.h", "trace/torchscript/load.h",
              "trace/torchscript/weights.h"}


root = pathlib.Path(__file__).resolve().parent.parent


def allowed(folder):
    """The folders that `folder` may include, itself first."""
    found = {folder}
    for name in ROOMS[folder]:
        if name.endswith("/*"):
            found |= {other for other in ROOMS if other == name[:-2] or other.startswith(name[:-1])}
        else:
            found.add(name)
    return found


def order_violations():
    """Rows that stand before one of the folders that they include."""
    names = list(ROOMS)
    for folder in names:
        for other in sorted(allowed(folder) - {folder}):
            if other not in ROOMS:
                yield f"tests/check_includes.py: {folder} lists {other}, which has no row"
            elif names.index(other) > names.index(folder):
                yield f"tests/check_includes.py: {folder} comes before {other}, which it may include"


def file_violations(path):
    name = path.relative_to(root).as_posix()
    folder = path.parent.relative_to(root).as_posix()
    if folder not in ROOMS:
        yield f"{name}: its folder has no row in tests/check_includes.py"
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#include (["<])([^">]+)[">]', line)
        if not match:
            continue
        header = match.group(2)
        home = header.rpartition("/")[0]
        if match.group(1) == '"' and home not in allowed(folder):
            yield f"{name}:{number}: {folder} may not include {header}"
        if TORCH.match(header) and (not TORCH_ALLOWED.match(name) or name in TORCH_FREE):
            yield f"{name}:{number}: LibTorch does not belong here: {header}"


def public_violations():
    """Public headers that include one that is not, and so is not installed."""
    marker = "// Public header.\n"
    for room in sorted({name.split("/")[0] for name in ROOMS}):
        for path in sorted((root / room).rglob("*.h")):
            code = path.read_text()
            if marker not in code:
                continue
            for header in re.findall(r'#include "([^"]+)"', code):
                if marker not in (root / header).read_text():
                    yield f"{path.relative_to(root)}: is public and includes {header}, which is not"


def source_files():
    for room in sorted({name.split("/")[0] for name in ROOMS}):
        yield from sorted([*(root / room).rglob("*.h"), *(root / room).rglob("*.cpp")])


def pairs():
    """By pair ("base/error" of .h and .cpp): the pairs that it includes."""
    found = {}
    for path in source_files():
        name = path.relative_to(root).with_suffix("").as_posix()
        headers = re.findall(r'^\s*#include "([^"]+)\.h"', path.read_text(), re.MULTILINE)
        found.setdefault(name, set()).update(header for header in headers if header != name)
    return found


def circles(graph):
    """The sets of more than one node that reach each other (Tarjan's strongly connected components)."""
    order, lowest, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for other in sorted(graph[node] & graph.keys()):
            if other not in order:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], order[other])
        if lowest[node] == order[node]:
            begin = stack.index(node)
            found.append(set(stack[begin:]))
            del stack[begin:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return [circle for circle in found if len(circle) > 1]


def circle_violations():
    """Data that both sides need goes into a header of its own."""
    for circle in circles(pairs()):
        yield f"a circle of pairs, each of which includes the next: {', '.join(sorted(circle))}"


def main():
    violations = [*order_violations(), *public_violations(), *circle_violations()]
    for path in source_files():
        violations += file_violations(path)
    print("\n".join(violations) or f"{len(ROOMS)} folders include in one direction, no circles of pairs")
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())

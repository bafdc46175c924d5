#!/usr/bin/env python3
"""Holds `symprof optimize` against onnxruntime: the models of tests/workbench/golden, optimized at each level, must give
the values of the originals, and so must the models of tests/workbench/rules. Prints the table of docs/evaluation/optimize.md; exit 1 where values differ by more than they may.

Needs onnx and onnxruntime: python3 truth/workbench/optimize.py build/release/bin/symprof"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "workbench" / "golden"
RULES = GOLDEN.parent / "rules"
FOR_A_RUNTIME = {"ort_extended", "ort_all", "onnxscript_ort"}
LARGEST, LARGEST_MIXED = 1e-6, 2e-4
BY_NAME = ["joined_products"]  # And bias_softmax, which onnxruntime does not run on a CPU.


def outputs(path, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options)
    names = [one.name for one in session.get_inputs()]
    return session.run(None, {name: feeds[name] for name in names})


def difference(wanted, found):
    """The largest absolute difference of two lists of arrays; infinite where shapes differ."""
    if [one.shape for one in wanted] != [one.shape for one in found]:
        return float("inf")
    pairs = zip(wanted, found)
    return max(float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0)) for a, b in pairs)


def optimized(symprof, model, level, folder, *options):
    """Nodes without Constants, and the file."""
    path = pathlib.Path(folder) / f"{model.stem}.{level}.onnx"
    subprocess.run([symprof, "optimize", str(model), "--fused", level, *options, "-o", str(path), "--quiet"], check=True)
    nodes = onnx.load(path).graph.node
    return sum(node.op_type != "Constant" for node in nodes), path


def best(tools, with_runtime):
    counts = {tool: one["no_constant"] for tool, one in tools.items() if "no_constant" in one}
    return min(count for tool, count in counts.items() if with_runtime or tool not in FOR_A_RUNTIME)


def row(symprof, name, tools, folder):
    model = GOLDEN / "models" / f"{name}.onnx"
    feeds = {key.replace("__", "/"): value for key, value in np.load(model.with_suffix(".npz")).items()}
    wanted = outputs(model, feeds)
    cells, worst = [tools["as_exported"]["no_constant"]], 0
    for level in ("none", "standard", "microsoft"):
        count, path = optimized(symprof, model, level, folder)
        worst = max(worst, difference(wanted, outputs(path, feeds)))
        cells.append(count)
    cells += [best(tools, False), best(tools, True)]
    good = worst <= (LARGEST_MIXED if "mixed" in name else LARGEST)
    print(f"| {name} | " + " | ".join(map(str, cells)) + f" | {worst:.1e} |" + ("" if good else "  <- differs"))
    return good


def random_feeds(model):
    """Normal numbers, or zeros and ones, for inputs of which every size is known or taken as 3."""
    generator, feeds = np.random.default_rng(0), {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [size.dim_value or 3 for size in kind.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        numbers = generator.standard_normal(shape)
        feeds[value.name] = (numbers if np.issubdtype(dtype, np.floating) else numbers > 0).astype(dtype)
    return feeds


def rule_differs(symprof, text, folder):
    """Whether the model of a rule's test has other values after all rules."""
    model = onnx.parser.parse_model(text.read_text())
    path = pathlib.Path(folder) / f"{text.stem}.onnx"
    onnx.save(model, path)
    feeds = random_feeds(model)
    found = optimized(symprof, path, "microsoft", folder, "--also", ",".join(BY_NAME))[1]
    gap = difference(outputs(path, feeds), outputs(found, feeds))
    if gap > LARGEST:
        print(f"{text.name}: differs by {gap:.1e}")
    return gap > LARGEST


def main(symprof):
    onnxruntime.set_default_logger_severity(4)
    print("| model | as exported | `none` | `standard` | `microsoft` | best tool, standard | best tool, fused | largest difference |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    golden = json.loads((GOLDEN / "optimizers.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        good = all([row(symprof, name, tools, folder) for name, tools in golden.items()])
        return not good or any([rule_differs(symprof, text, folder) for text in sorted(RULES.glob("*.txt"))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

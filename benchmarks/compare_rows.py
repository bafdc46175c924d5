#!/usr/bin/env python3
"""CPU seconds that aligning rows takes, beside onnx-array-api, in one run: graphs of chained nodes that are not run, so that
a row is a node or a result. symprof's times are those of its whole process; the tool's are those of aligning alone.

Needs numpy, onnx and onnx-array-api:
    python3 benchmarks/compare_rows.py build/release/bin/symprof [ROWS_A ROWS_B …]"""
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

import onnx
import onnx.helper as helper
from onnx_array_api.reference import evaluator_yield

OPERATORS = ["Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Exp", "Sqrt", "Floor"]
SIZES = [(1803, 2036), (5000, 5000)]


def model(rows, seed):
    """A chain; with its input and its output as many rows as asked for, or one less."""
    generator, name, nodes = random.Random(seed), "x", []
    for number in range((rows - 2) // 2):
        nodes.append(helper.make_node(generator.choice(OPERATORS), [name], [f"r{number}"], name=f"n{number}"))
        name = f"r{number}"
    ends = [helper.make_tensor_value_info(one, onnx.TensorProto.FLOAT, [2, 3]) for one in ("x", name)]
    return helper.make_model(helper.make_graph(nodes, "chain", ends[:1], ends[1:]),
                             opset_imports=[helper.make_opsetid("", 21)])


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_symprof(program, paths, align):
    best = None
    for _ in range(3):
        start = children_seconds()
        subprocess.run([program, "compare", *paths, "--mode", "nodes", "--align", align, "--format", "rows", "-o", "/dev/null"],
                       check=True)
        seconds = children_seconds() - start
        best = seconds if best is None else min(best, seconds)
    return best


def of_the_tool(models):
    start = time.process_time()
    evaluator_yield.compare_onnx_execution(*models, inputs=[], verbose=0, raise_exc=False, mode="nodes")
    return time.process_time() - start


def main(program, *sizes):
    sizes = list(zip(sizes[::2], sizes[1::2])) or SIZES
    print("| rows | `--align edit` | `--align best` | onnx-array-api | ratio, edit |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for a, b in sizes:
            models = [model(a, 0), model(b, 1)]
            paths = [str(pathlib.Path(folder) / name) for name in ("a.onnx", "b.onnx")]
            for one, path in zip(models, paths):
                onnx.save(one, path)
            edit, best = (of_symprof(program, paths, align) for align in ("edit", "best"))
            tool = of_the_tool(models)
            print(f"| {a} with {b} | {edit:.2f} s | {best:.2f} s | {tool:.1f} s | {tool / edit:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))

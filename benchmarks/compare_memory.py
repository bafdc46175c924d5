#!/usr/bin/env python3
"""How much memory `symprof compare` needs for models of more and more rows: chains of elementwise nodes, each value 4 MiB.

    compare_memory.py PROGRAM [ROWS …]

Prints for each chain the bytes of all values of both sides and the peak of the process. Needs onnx.
"""
import os
import pathlib
import sys
import tempfile

import onnx
import onnx.helper

SIZES = [1024, 1024]
OPERATORS = ["Neg", "Abs", "Sigmoid", "Sin"]


def chain(path, rows):
    names = [f"v{i}" for i in range(rows + 1)]
    nodes = [onnx.helper.make_node(OPERATORS[i % len(OPERATORS)], [names[i]], [names[i + 1]]) for i in range(rows)]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, SIZES) for name in (names[0], names[-1])]
    graph = onnx.helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10), path)


def peak_of(program, path):
    command = [program, "compare", str(path), str(path), "--quiet", "-o", "/dev/null"]
    _, status, usage = os.wait4(os.posix_spawn(program, command, os.environ), 0)
    assert status == 0
    return usage.ru_maxrss * 1024


def main(program, *counts):
    print("| rows of a side | values of both sides | peak of the process |")
    print("| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for rows in map(int, counts or (25, 100, 400, 1600)):
            path = pathlib.Path(folder) / f"{rows}.onnx"
            chain(path, rows)
            peak = peak_of(str(pathlib.Path(program).resolve()), path)
            print(f"| {rows} | {2 * rows * 4} MiB | {peak / 2**20:.0f} MiB |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""Writes a model of many small nodes: LAYERS of MatMul, Add and Relu, 3,750 without the option: 11,250 nodes and 66 MB of
weights. `benchmarks/workbench.py` compares tools on it.

    python3 benchmarks/deep_model.py deep.onnx [--layers 3750] [--width 66]

Needs onnx and numpy."""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def deep_model(layers, width, batch=4):
    random = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for i in range(layers):
        weight = random.standard_normal((width, width), dtype=np.float32) / np.float32(width) ** 0.5
        weights.append(numpy_helper.from_array(weight, f"layers.{i}.weight"))
        weights.append(numpy_helper.from_array(random.standard_normal(width, dtype=np.float32), f"layers.{i}.bias"))
        module = f"/layers.{i}"
        nodes.append(helper.make_node("MatMul", [value, f"layers.{i}.weight"], [f"product_{i}"], name=f"{module}/MatMul"))
        nodes.append(helper.make_node("Add", [f"product_{i}", f"layers.{i}.bias"], [f"sum_{i}"], name=f"{module}/Add"))
        value = "y" if i + 1 == layers else f"activation_{i}"
        nodes.append(helper.make_node("Relu", [f"sum_{i}"], [value], name=f"{module}/Relu"))
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, width])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, width])]
    graph = helper.make_graph(nodes, "deep", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--layers", type=int, default=3750)
    parser.add_argument("--width", type=int, default=66)
    arguments = parser.parse_args()
    onnx.save(deep_model(arguments.layers, arguments.width), arguments.file)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes cases of the operators of com.microsoft into one file, for symprof_onnx_backend.

    python3 -m venv venv && venv/bin/pip install onnx==1.23.2 onnxruntime==1.32.0
    venv/bin/python truth/onnx_backend/microsoft/write_cases.py truth/onnx_backend/microsoft/cases.pb

The expected values are those of onnxruntime's CPU provider. Where it has no kernel for an operator (or for
the form of it that a case has), they come from references.py, formulas in numpy after the operator's
documentation: the op_type of such a case ends in " (formula)". The file has the form that
truth/onnx_backend/write_cases.py describes."""
import argparse
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import attention_cases
import fused_cases
import packed_cases
import quantized_cases
from write_cases import case

ONNX_OPSET = 18


def model_of(entry, arrays):
    """A model of one node. Operands that a kernel wants constant are initializers."""
    names = ["" if array is None else f"input_{i}" for i, array in enumerate(entry.inputs)]
    outputs = [f"output_{i}" if wanted else "" for i, wanted in enumerate(entry.outputs)]
    node = helper.make_node(entry.op, names, outputs, domain="com.microsoft", **entry.attributes)
    inputs, initializers = [], []
    for index, (name, array) in enumerate(zip(names, entry.inputs)):
        if array is None:
            continue
        if index in entry.constant:
            initializers.append(onnx.numpy_helper.from_array(array, name))
        else:
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
    results = []
    for name, array in zip([name for name in outputs if name], arrays or [None] * len(outputs)):
        if array is None and name == "output_3":  # Scores: the schema has no rule for their type.
            results.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
        elif array is None:
            results.append(onnx.ValueInfoProto(name=name))
        else:
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            results.append(helper.make_tensor_value_info(name, kind, array.shape))
    graph = helper.make_graph([node], entry.name, inputs, results, initializers)
    opsets = [helper.make_opsetid("", ONNX_OPSET), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def by_onnxruntime(entry):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    model = model_of(entry, None)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    feeds = {
        f"input_{i}": array
        for i, array in enumerate(entry.inputs)
        if array is not None and i not in entry.constant
    }
    return session.run(None, feeds)


def as_case(entry):
    results = entry.reference(entry) if entry.reference else by_onnxruntime(entry)
    results = [np.asarray(result) for result in results]
    given = [a for i, a in enumerate(entry.inputs) if a is not None and i not in entry.constant]
    model = model_of(entry, results).SerializeToString()
    op = f"{entry.op} (formula)" if entry.reference else entry.op
    return case(entry.name, op, model, entry.rtol, entry.atol, given, results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    arguments = parser.parse_args()
    entries = [*attention_cases.entries(), *fused_cases.entries(), *quantized_cases.entries(),
               *packed_cases.entries()]
    names = [entry.name for entry in entries]
    assert len(set(names)) == len(names), "two cases of one name"
    graph = onnx.GraphProto(name=f"com.microsoft by onnxruntime {onnxruntime.__version__}")
    failures = 0
    for entry in entries:
        if arguments.only not in entry.name:
            continue
        try:
            graph.node.append(as_case(entry))
        except Exception as error:
            failures += 1
            print(f"{entry.name}: {str(error)[:300]}", file=sys.stderr)
    arguments.file.write_bytes(graph.SerializeToString(deterministic=True))
    formulas = sum(node.op_type.endswith("(formula)") for node in graph.node)
    print(f"{len(graph.node)} cases, {formulas} of them by formula, {arguments.file.stat().st_size} bytes")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()

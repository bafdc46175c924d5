#!/usr/bin/env python3
"""Writes ONNX's own backend tests into one file, for symprof_onnx_backend.

    python3 -m venv venv && venv/bin/pip install onnx==1.23.2 pillow
    venv/bin/python tests/onnx_backend/write_cases.py all.pb              # every case
    venv/bin/python tests/onnx_backend/write_cases.py --sample sample.pb  # some of every operator

The file is a GraphProto: each node is a case, whose op_type is the operator (or the suite), and whose
attributes are `model` (the bytes of a ModelProto), `rtol`, `atol`, and the values input_0, output_0 …: a
tensor, a list of tensors (a sequence), or an attribute without a value (an empty optional)."""
import argparse
import pathlib

import numpy
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

SUITES = ("simple", "pytorch-operator", "pytorch-converted")
# The committed sample: this many cases of an operator, none larger than this.
SAMPLE_CASES, SAMPLE_BYTES = 2, 20_000


def tensor(value):
    if isinstance(value, onnx.TensorProto):
        return value
    array = numpy.asarray(value)
    return numpy_helper.from_array(array.astype(object) if array.dtype.kind in "US" else array)


def value_attribute(name, value):
    attribute = onnx.AttributeProto(name=name)
    if value is None:
        return attribute
    if isinstance(value, onnx.OptionalProto):
        return value_attribute(name, value.tensor_value if value.HasField("tensor_value") else None)
    if isinstance(value, onnx.SequenceProto):
        value = list(value.tensor_values)
    if isinstance(value, list):
        attribute.type = onnx.AttributeProto.TENSORS
        attribute.tensors.extend(tensor(element) for element in value)
    else:
        attribute.type = onnx.AttributeProto.TENSOR
        attribute.t.CopyFrom(tensor(value))
    return attribute


def case(name, op, model, rtol, atol, inputs, outputs):
    node = onnx.NodeProto(name=name, op_type=op)
    node.attribute.append(onnx.helper.make_attribute("model", model))
    node.attribute.append(onnx.helper.make_attribute("rtol", float(rtol)))
    node.attribute.append(onnx.helper.make_attribute("atol", float(atol)))
    for kind, values in (("input", inputs), ("output", outputs)):
        for index, value in enumerate(values):
            node.attribute.append(value_attribute(f"{kind}_{index}", value))
    return node


def node_cases():
    for test in collect_testcases(None):
        nodes = test.model.graph.node
        op = nodes[0].op_type if len(nodes) == 1 else "(several nodes)"
        for inputs, outputs in test.data_sets[:1]:
            yield case(test.name, op, test.model.SerializeToString(), test.rtol, test.atol, inputs, outputs)


def suite_cases():
    """Models that lie in the onnx package, with one data set each."""
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    for suite in SUITES:
        for folder in sorted((data / suite).iterdir()):
            model = (folder / "model.onnx").read_bytes()
            graph = onnx.load_from_string(model).graph
            sets = sorted(folder.glob("test_data_set_*"))
            if not sets:
                continue
            initialized = {initializer.name for initializer in graph.initializer}
            given = [value for value in graph.input if value.name not in initialized]
            inputs = [stored(sets[0] / f"input_{i}.pb", value) for i, value in enumerate(given)]
            outputs = [stored(sets[0] / f"output_{i}.pb", value) for i, value in enumerate(graph.output)]
            yield case(f"{suite}/{folder.name}", suite, model, 1e-3, 1e-7, inputs, outputs)


def stored(path, declared):
    kind = declared.type.WhichOneof("value")
    proto = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(kind, onnx.TensorProto)()
    proto.ParseFromString(path.read_bytes())
    return proto


def sample(cases):
    """The smallest cases of every operator."""
    by_operator = {}
    for node in cases:
        by_operator.setdefault(node.op_type, []).append(node)
    for nodes in by_operator.values():
        nodes.sort(key=lambda node: node.ByteSize())
        yield from (node for node in nodes[:SAMPLE_CASES] if node.ByteSize() <= SAMPLE_BYTES)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--sample", action="store_true", help="the smallest cases of every operator")
    arguments = parser.parse_args()
    cases = [*node_cases(), *suite_cases()]
    graph = onnx.GraphProto(name=f"backend tests of onnx {onnx.__version__}")
    graph.node.extend(sorted(sample(cases) if arguments.sample else cases, key=lambda node: node.name))
    arguments.file.write_bytes(graph.SerializeToString(deterministic=True))
    print(f"{len(graph.node)} cases, {arguments.file.stat().st_size} bytes")


if __name__ == "__main__":
    main()

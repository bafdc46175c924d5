#!/usr/bin/env python3
"""Writes ONNX's own backend tests into one file, for symprof_onnx_backend.

    python3 -m venv venv && venv/bin/pip install onnx==1.23.2 pillow
    venv/bin/python truth/onnx_backend/write_cases.py all.pb              # every case
    venv/bin/python truth/onnx_backend/write_cases.py --sample sample.pb  # the smallest of every kind

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
# The committed sample has no case larger than this.
SAMPLE_BYTES = 5_000


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


def kind(node):
    """The operator, its modes (texts), and the element types of its inputs and outputs."""
    modes, types = (), set()
    for attribute in node.attribute:
        if attribute.name == "model":
            nodes = onnx.load_from_string(attribute.s).graph.node
            if len(nodes) == 1:
                modes = tuple(sorted((a.name, a.s) for a in nodes[0].attribute if a.type == onnx.AttributeProto.STRING))
        elif attribute.type == onnx.AttributeProto.TENSOR:
            types.add((attribute.name.split("_")[0], attribute.t.data_type))
    return node.op_type, modes, tuple(sorted(types))


def sample(cases):
    """The smallest case of every kind."""
    smallest = {}
    for node in cases:
        known = smallest.setdefault(kind(node), node)
        if node.ByteSize() < known.ByteSize():
            smallest[kind(node)] = node
    yield from (node for node in smallest.values() if node.ByteSize() <= SAMPLE_BYTES)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--sample", action="store_true", help="the smallest case of every kind")
    arguments = parser.parse_args()
    cases = [*node_cases(), *suite_cases()]
    graph = onnx.GraphProto(name=f"backend tests of onnx {onnx.__version__}")
    graph.node.extend(sorted(sample(cases) if arguments.sample else cases, key=lambda node: node.name))
    arguments.file.write_bytes(graph.SerializeToString(deterministic=True))
    print(f"{len(graph.node)} cases, {arguments.file.stat().st_size} bytes")


if __name__ == "__main__":
    main()

"""Node data for Model Explorer, held against Model Explorer's own reader and its adapter for ONNX.

    node_data.py PROGRAM [MODEL ...]

PROGRAM is symprof; without models, those of tests/workbench/golden. Each file that `symprof dot --format
model-explorer` writes has to be a ModelNodeData, its graph one that the adapter makes of the same model, and
each of its keys a node of that graph, of the operator that makes its results in the file. Needs ai-edge-model-explorer 0.1.34 and
model-explorer-onnx 0.4.2.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import dacite
import onnx
from model_explorer import graph_builder
from model_explorer.node_data_builder import ModelNodeData
from model_explorer_onnx.main import ONNXAdapter

ROOT = pathlib.Path(__file__).resolve().parents[2]


def graphs_of(model):
    """By a graph's name, its nodes by their ids, with what they make and their operators."""
    graphs = ONNXAdapter().convert(str(model), {})["graphs"]
    assert all(isinstance(graph, graph_builder.Graph) for graph in graphs)
    return {graph.id: {node.id: (results_of(node), node.label.split("::")[-1]) for node in graph.nodes} for graph in graphs}


def results_of(node):
    return [entry.value for output in node.outputsMetadata for entry in output.attrs if entry.key == "__tensor_tag"]


def node_data(program, model, figure):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "data.json"
        subprocess.run([program, "dot", str(model), "--format", "model-explorer", "--color", figure, "-o", str(path)],
                       check=True)
        return json.loads(path.read_text())


def check(program, model):
    data = node_data(program, model, "fwd_flops")
    dacite.from_dict(ModelNodeData, {"graphsData": data}, dacite.Config(strict=True))
    graphs = graphs_of(model)
    nodes = onnx.load(model, load_external_data=False).graph.node
    operators = {output: node.op_type for node in nodes for output in node.output if output}
    matched = missing = 0
    for graph, values in data.items():
        for key in values["results"]:
            results, operator = graphs.get(graph, {}).get(key, ([], ""))
            is_known = bool(results) and operators.get(results[0]) == operator
            matched, missing = matched + is_known, missing + (not is_known)
    return matched, missing, [name for name in data if name not in graphs]


def main():
    program, *models = sys.argv[1:]
    models = models or sorted((ROOT / "tests/workbench/golden/models").glob("*.onnx"))
    is_wrong = False
    for model in models:
        try:
            matched, missing, unknown = check(program, model)
        except subprocess.CalledProcessError:
            print(f"{pathlib.Path(model).stem:32} symprof has no figures")
            continue
        print(f"{pathlib.Path(model).stem:32} {matched:5} matched {missing:5} not", *unknown)
        is_wrong |= missing > 0 or bool(unknown)
    return is_wrong


if __name__ == "__main__":
    sys.exit(main())

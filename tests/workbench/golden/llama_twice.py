"""A LLAMA exported twice, as onnx-array-api compares the two: its example plot_llama_diff_dort, with public exporters.

    python llama_twice.py [folder]      # default: this one

The example takes the graphs that aot_autograd makes of a LLAMA, exports each with two exporters, optimizes both models with
onnxruntime, and prints the rows side by side. So does this, for the forward and the backward graph, in float32 and in
mixed precision (autocast, float16): A is by the exporter of torch.export (dynamo=True), B by the older one of TorchScript,
which is told how to write four ATen operators. Inputs of B have other names. Of each pair it keeps the optimized models, the
inputs, the rows and their pairs, and prints what the table of docs/evaluation/compare.md says of the tool.

Ran with torch 2.13.0, onnx 1.23.2, onnxruntime 1.32.0, onnx-array-api 0.3.3, onnx-diagnostic 0.9.3.
"""
import collections
import pathlib
import sys

import onnx
import torch
import torch.nn.functional as F
from functorch.compile import make_boxed_func
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch.onnx import register_custom_op_symbolic, symbolic_helper

import exporters
import golden_models
import optimizers
import oracle

OPSET = 18  # The first in which the older exporter has operators for bits.
INPUTS = (torch.arange(16).reshape(2, 8), torch.tensor([[1] * 8, [1] * 6 + [0] * 2]))


def softmax(g, x, dim, half_to_float):
    return g.op("Softmax", x, axis_i=symbolic_helper._get_const(dim, "i", "dim"))


def to_copy(g, x, dtype, *others):
    if symbolic_helper._is_none(dtype):
        return g.op("Identity", x)
    scalar = torch.onnx.JitScalarType(symbolic_helper._get_const(dtype, "i", "dtype"))
    return g.op("Cast", x, to_i=scalar.onnx_type())


def slice_scatter(g, x, source, dim, start, end, step):
    dim, start, end = (symbolic_helper._get_const(value, "i", "slice") for value in (dim, start, end))
    ends = {"before": (0, start), "behind": (end, 2**62)}
    parts = {name: symbolic_helper._slice_helper(g, x, axes=[dim], starts=[a], ends=[b]) for name, (a, b) in ends.items()}
    return g.op("Concat", parts["before"], source, parts["behind"], axis_i=dim)


def alias(g, x):
    return g.op("Identity", x)


def register():
    for name, symbolic in (("_softmax", softmax), ("_to_copy", to_copy), ("slice_scatter", slice_scatter), ("alias", alias)):
        register_custom_op_symbolic(f"aten::{name}", symbolic, OPSET)


def graphs(model):
    """The forward and the backward graph of a step, each with the inputs that it was given."""
    found = []

    def keep(graph, inputs):
        def run(*given):
            found.append((graph, tuple(tensor.detach().clone() for tensor in given)))
            return graph(*given)

        return make_boxed_func(run)

    torch._dynamo.reset()
    backend = aot_autograd(fw_compiler=keep, bw_compiler=keep, decompositions=core_aten_decompositions())
    out = torch.compile(model, backend=backend, fullgraph=True, dynamic=False)(*INPUTS)
    out = out.reshape(-1, out.shape[-1]).float()
    F.cross_entropy(out, torch.arange(len(out)) % out.shape[-1]).backward()
    return dict(zip(("forward", "backward"), found, strict=True))


def models_of(graph, inputs):
    names = [f"input{i}" for i in range(len(inputs))]
    both = {"dynamo": exporters.export(graph, inputs), "script": exporters.export_script(graph, inputs, opset=OPSET, input_names=names)}
    return {how: exporters.slim_metadata(optimizers.ort_level(model, "EXTENDED")) for how, model in both.items()}


def feeds_of(model, inputs, positions):
    """By name; the runtime drops inputs that nothing reads, and keeps the order of the others."""
    values = dict(zip(positions, inputs, strict=True))
    return {one.name: values[one.name].numpy() for one in model.graph.input}


def main(root):
    register()
    for folder in ("models", "results", "rows"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for precision in ("float32", "mixed"):
        torch.manual_seed(0)
        model = golden_models.Llama(layers=1, vocab=32)
        model = golden_models.Half(model) if precision == "mixed" else model
        for part, (graph, inputs) in graphs(model).items():
            stem = f"twice_{part}" + ("_mixed" if precision == "mixed" else "")
            models = models_of(graph, inputs)
            placeholders = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
            feeds = {f"{stem}.dynamo": feeds_of(models["dynamo"], inputs, placeholders),
                     f"{stem}.script": feeds_of(models["script"], inputs, [f"input{i}" for i in range(len(inputs))])}
            named = {f"{stem}.{how}": made for how, made in models.items()}
            for name, made in named.items():
                onnx.save(made, root / "models" / f"{name}.onnx")
            oracle.save_feeds(root / "models" / f"{stem}.npz", {**feeds[f"{stem}.dynamo"], **feeds[f"{stem}.script"]})
            said = oracle.compare_pair(str(root), f"{stem}.dynamo", f"{stem}.script", named, feeds, narrow=True)
            for text in (root / "rows").glob(f"{stem}*.txt"):
                if not text.name.endswith(".90.txt"):
                    text.unlink()
            print(stem, said, collections.Counter(node.op_type for node in models["dynamo"].graph.node).most_common(4), flush=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent).resolve())

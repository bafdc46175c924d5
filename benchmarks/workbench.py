#!/usr/bin/env python3
"""CPU seconds of the workbench beside Python tools: of whole processes, start and imports included, and of the work
alone, which for symprof is what a model of one node does not take.

Needs onnx, onnxruntime and onnx-array-api; for tensors, the drawing with types and the commands onnx-diagnostic, for the
commands also what it imports (torch, transformers):
    python3 benchmarks/workbench.py build/release/bin/symprof MODEL.onnx"""
import pathlib
import resource
import subprocess
import sys
import tempfile

TEXT = """
import onnx
from onnx_array_api.plotting.text_plot import onnx_simple_text_plot
START
onnx_simple_text_plot(onnx.load(MODEL), recursive=True)
"""
COUNT = """
import collections, onnx, onnx.shape_inference
START
model = onnx.shape_inference.infer_shapes(onnx.load(MODEL), data_prop=True)
collections.Counter(node.op_type for node in model.graph.node)
collections.Counter(str(value.type) for value in model.graph.value_info)
"""
DOT = """
import onnx
from onnx_array_api.plotting.dot_plot import to_dot
START
to_dot(onnx.load(MODEL))
"""
TENSORS = """
import onnx
from onnx_diagnostic.helpers.onnx_helper import iterator_initializer_constant, tensor_statistics
from onnx_diagnostic.helpers.onnx_helper import to_array_extended
from onnx_diagnostic.reference import ExtendedReferenceEvaluator
START
for name, tensor in iterator_initializer_constant(onnx.load(MODEL)):
    if tensor.size and tensor.dtype != bool:
        tensor_statistics(tensor)
"""
TYPED_DOT = """
import onnx
from onnx_diagnostic.helpers.dot_helper import to_dot
START
to_dot(onnx.load(MODEL))
"""
OPTIMIZE = """
import onnxruntime
START
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
options.optimized_model_filepath = OUT
onnxruntime.InferenceSession(MODEL, options)
"""
CLOCK = "import time; start = time.process_time()"
STOP = "import sys; print(time.process_time() - start, file=sys.stderr)"


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result.stderr


def of_python(code, model, out):
    """Seconds of the whole process, and of the work alone, without the start of Python and its imports."""
    program = code.replace("START", CLOCK).replace("MODEL", repr(model)).replace("OUT", repr(out)) + STOP
    runs = [cpu_seconds([sys.executable, "-c", program]) for _ in range(3)]
    return min(seconds for seconds, _ in runs), min(float(error.split()[-1]) for _, error in runs)


def of_symprof(command):
    """Seconds of the whole process."""
    return min(cpu_seconds(command)[0] for _ in range(9))


def of_command(arguments):
    """Seconds of a command of onnx-diagnostic, as a user calls it."""
    return min(cpu_seconds([sys.executable, "-m", "onnx_diagnostic", *arguments])[0] for _ in range(2))


def one_node(path):
    import onnx.parser

    text = '<ir_version: 10, opset_import: ["" : 20]> g (float[2, 3] x) => (float[2, 3] y) { y = Relu (x) }'
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def print_commands(symprof, model, out):
    """Commands of both as users call them."""
    commands = [
        ("show --style pretty", [], ["print", "pretty", model]),
        ("stats", [], ["stats", "-i", model]),
        ("stats --tensors", [], ["stats", "-i", model]),
        ("dot", ["-o", out], ["dot", model, "-o", out]),
    ]
    print("\n| symprof | CPU s | onnx_diagnostic | CPU s | times |\n" + "| --- " * 5 + "|")
    for name, more, theirs in commands:
        ours, whole = of_symprof([symprof, *name.split(), model, *more]), of_command(theirs)
        print(f"| `{name}` | {ours:.3f} | `{' '.join(word for word in theirs if word.isalpha())}` | {whole:.2f} | {whole / ours:.0f} |")


def main(symprof, model):
    with tempfile.TemporaryDirectory() as folder:
        out, small = (str(pathlib.Path(folder) / name) for name in ["out.onnx", "small.onnx"])
        one_node(small)
        rows = [
            ("text", ["show", "--style", "pretty"], TEXT, "onnx-array-api"),
            ("counts", ["stats"], COUNT, "onnx, with shape inference"),
            ("tensors", ["stats", "--tensors"], TENSORS, "onnx-diagnostic"),
            ("dot", ["dot"], DOT, "onnx-array-api"),
            ("dot with types", ["dot"], TYPED_DOT, "onnx-diagnostic"),
            ("optimize", ["optimize", "-o", out, "-q"], OPTIMIZE, "onnxruntime, extended"),
        ]
        print("| what | symprof, CPU s | Python, CPU s | times | its work alone | Python's | times | tool |")
        print("| --- " * 8 + "|")
        for name, command, code, tool in rows:
            try:
                whole, work = of_python(code, model, out + ".ort.onnx")
            except subprocess.CalledProcessError as error:
                print(f"| {name} | {tool} is not there or fails: {error.stderr.splitlines()[-1][:60]} |", file=sys.stderr)
                continue
            ours = of_symprof([symprof, *command, model])
            alone = ours - of_symprof([symprof, *command, small])
            print(f"| {name} | {ours:.3f} | {whole:.2f} | {whole / ours:.0f} | {alone:.3f} | {work:.3f} "
                  f"| {work / alone:.1f} | {tool} |")
        print_commands(symprof, model, out)


if __name__ == "__main__":
    main(*sys.argv[1:3])

#!/usr/bin/env python3
"""CPU seconds of the workbench beside Python tools, each in a process of its own, start and imports included.

Needs onnx, onnxruntime and onnx-array-api; for the drawing onnx-diagnostic too:
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
    return min(cpu_seconds(command)[0] for _ in range(5))


def main(symprof, model):
    with tempfile.TemporaryDirectory() as folder:
        out = str(pathlib.Path(folder) / "out.onnx")
        rows = [
            ("text", [symprof, "show", model, "--style", "pretty"], TEXT, "onnx-array-api"),
            ("counts", [symprof, "stats", model], COUNT, "onnx, with shape inference"),
            ("dot", [symprof, "dot", model], DOT, "onnx-array-api"),
            ("optimize", [symprof, "optimize", model, "-o", out, "-q"], OPTIMIZE, "onnxruntime, extended"),
        ]
        print("| what | symprof, CPU s | Python, CPU s | times | its work alone, CPU s | times | tool |")
        print("| --- " * 7 + "|")
        for name, command, code, tool in rows:
            ours, (whole, work) = of_symprof(command), of_python(code, model, out + ".ort.onnx")
            print(f"| {name} | {ours:.3f} | {whole:.2f} | {whole / ours:.1f} | {work:.3f} | {work / ours:.1f} | {tool} |")


if __name__ == "__main__":
    main(*sys.argv[1:3])

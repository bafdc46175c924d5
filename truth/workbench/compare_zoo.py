#!/usr/bin/env python3
"""Compares models in one format with the same models in another, as `symprof compare` sees them, and prints the table
of docs/evaluation/compare.md: rows of A, those of A and B that compute something and have a partner, and the largest difference of a
pair that is no guess. The files of one model were made with different weights, so both get the same random ones. Exit 1 where outputs differ.

Needs nothing but the program: python3 truth/workbench/compare_zoo.py build/release/bin/symprof [PAIR …]"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIRS = [
    ["models/tiny/convnet.pt2", "models/tiny/convnet.onnx"],
    ["models/tiny/convnet.pt", "models/tiny/convnet.pt2"],
    ["models/tiny/mlp.pt2", "models/tiny/mlp.onnx"],
    ["models/tiny/tied_lm.pt2", "models/tiny/tied_lm.onnx"],
    ["models/tiny/dynamic_shapes.pt2", "models/tiny/dynamic_shapes.onnx"],
    ["models/tiny/kept_base.pt2", "models/tiny/kept_base.onnx"],
    ["models/tiny/rearranged.pt2", "models/tiny/rearranged.onnx"],
    ["models/tiny/reused_buffer.pt2", "models/tiny/reused_buffer.onnx"],
    ["models/tiny/reused_layer.pt2", "models/tiny/reused_layer.onnx"],
    ["models/tiny/reused_layer.pt", "models/tiny/reused_layer.pt2"],
    ["models/tiny/aliases.pt2", "models/tiny/aliases.onnx"],
    ["models/tiny/mixed_dtypes.pt2", "models/tiny/mixed_dtypes.onnx"],
    ["tests/zoo/foreign/layers.pt2", "tests/zoo/foreign/layers.onnx"],
    ["tests/zoo/foreign/nanogpt.pt2", "tests/zoo/foreign/nanogpt.onnx"],
    ["models/resnet50.pt2", "models/resnet50.onnx"],
    ["models/vit_b_16.pt2", "models/vit_b_16.onnx"],
    ["models/gpt2.pt2", "models/gpt2.onnx"],
    ["models/bert_base.pt2", "models/bert_base.onnx"],
]


def row(symprof, a, b):
    """The table's cells, and whether outputs agree; the refusal where the two cannot be run."""
    answer = subprocess.run([symprof, "compare", a, b, "--random-weights", "--format", "json", "--quiet"], capture_output=True, text=True, cwd=ROOT)
    if answer.returncode not in (0, 1):
        return answer.stderr.splitlines()[0], False
    report = json.loads(answer.stdout)
    results = [line for line in report["lines"] if line["a"] and line["a"]["kind"] == "result"]
    paired = [line for line in results if line["b"] and not line["is_guess"]]
    differences = [line["absolute"] for line in paired if line["absolute"] is not None]
    apart = [line for line in paired if not line["is_within"]]
    cells = [len(results), len(paired), len(apart), f"{max(differences, default=0):.1e}",
             "yes" if report["outputs_agree"] else "no"]
    return " | ".join(map(str, cells)), report["outputs_agree"]


def main(symprof, *names):
    good = True
    print("| A | B | results of A | with a partner | of these beyond the tolerance | largest difference | outputs agree |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for a, b in PAIRS:
        if names and pathlib.Path(a).stem not in names:
            continue
        text, is_good = row(symprof, a, b)
        good &= is_good
        print(f"| {a} | {pathlib.Path(b).name} | {text} |", flush=True)
    return not good


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

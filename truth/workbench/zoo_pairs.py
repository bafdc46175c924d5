#!/usr/bin/env python3
"""Compares each .pt2 of the repository that has an ONNX file beside it with ONNX of the same weights, as `symprof compare`
sees them, and prints a table of docs/evaluation/compare.md. The shipped files have no weights, or zeros. So the weights of a .pt2 are
drawn, `torch.export.load` reads it, and torch.onnx.export makes its ONNX model anew, with the opset and the optimization of
the shipped one (models/zoo.py). Both are compared with the weights that they have.

    zoo_pairs.py PROGRAM FOLDER [NAME …]     # FOLDER gets the pairs

Columns: rows of A that a node made; those that have a partner which is no guess; of the others those whose value B has in a row without a
partner (none: nothing that could be aligned is alone); pairs beyond the tolerance; the largest difference of a pair; whether
outputs agree. Exit 1 where they do not, or where an alignment is missing. Needs requirements-models.txt, and some GiB of
memory for the large ones; the decoders of 7 billion weights are made narrower, with all their layers, and in float32: in
bfloat16 ONNX, which has no silu, rounds its Sigmoid before the product, and that adds up.
"""
import json
import pathlib
import subprocess
import sys
import zlib

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "models"))
import onnx_file
import pt2_file
import zoo

FOREIGN = ["bn", "layers", "nanogpt"]
LARGE = ["resnet50", "vit_b_16", "gpt2", "bert_base"]
NARROWER = {"llama_7b": 32, "llama_7b_gqa": 32}  # Their layers, vocabulary and text, so many times.
TOLERANCE = {name: "1e-4" for name in NARROWER}  # Roundings add up over 64 sums of the residual stream.
NEAR = 1e-4  # Of the largest sum of a value: what sums of equal values differ by.


def files():
    """The .pt2 of each pair, small ones first."""
    tiny = [ROOT / "models" / "tiny" / f"{name}.pt2" for name, model in zoo.MODELS.items() if model.tiny]
    rest = [ROOT / "tests" / "zoo" / "foreign" / f"{name}.pt2" for name in FOREIGN] + [ROOT / "models" / f"{name}.pt2" for name in [*LARGE, *NARROWER]]
    return [path for path in tiny + rest if path.with_suffix(".onnx").exists()]


def program_of(symprof, path, folder):
    """The program of a file. Records of weights that are missing are put in first; the large files have no sample inputs, without
    which PyTorch reads none: those are exported again from the same module."""
    if path.stem in NARROWER:
        import language_models

        how = {"narrower": NARROWER[path.stem], "dtype": torch.float32}
        return torch.export.export(*getattr(language_models, path.stem)(**how))
    if path.stem in LARGE:
        model = zoo.MODELS[path.stem]
        return pt2_file.export(*zoo.build_with_weights(path.stem), model.modes[0], model.dynamic)
    filled = folder / f"{path.stem}.filled.pt2"
    subprocess.run([symprof, "fill", str(path), "-o", str(filled), "--quiet"], check=True)
    program = torch.export.load(filled)
    filled.unlink()
    return program


def draw_weights(program):
    for name, tensor in program.state_dict.items():
        if not tensor.is_floating_point():
            continue
        random = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        drawn = torch.randn(tensor.shape, generator=random)
        if name.endswith("running_var"):
            drawn = 1 + drawn.abs()
        elif tensor.dim() > 1:
            drawn /= max(1, tensor[0].numel()) ** 0.5
        else:
            drawn = name.endswith("weight") + 0.1 * drawn
        with torch.no_grad():
            tensor.copy_(drawn)


def make(symprof, path, folder):
    program = program_of(symprof, path, folder)
    draw_weights(program)
    a, b = folder / path.name, folder / f"{path.stem}.onnx"
    torch.export.save(program, a)
    how = zoo.MODELS.get(path.stem, zoo.Model(None))
    exported = torch.onnx.export(program, dynamo=True, opset_version=how.onnx_opset, optimize=how.onnx_optimization == "exporter's", verbose=False)
    if how.onnx_optimization == "small":
        onnx_file.fold_small_constants(exported.model)
    exported.save(b, external_data=path.stem in [*LARGE, *NARROWER])
    return a, b


def are_equal(a, b):
    if (a["dtype"], a["shape"]) != (b["dtype"], b["shape"]) or not a["sums"] or not b["sums"]:
        return False
    if None in a["sums"] + b["sums"]:
        return a["sums"] == b["sums"]
    largest = max(map(abs, a["sums"] + b["sums"]))
    return all(abs(x - y) <= NEAR * largest for x, y in zip(a["sums"], b["sums"]))


def row(symprof, a, b):
    tolerance = ["--tolerance", TOLERANCE[a.stem]] if a.stem in TOLERANCE else []
    answer = subprocess.run([symprof, "compare", a, b, *tolerance, "--format", "json", "--quiet"], capture_output=True, text=True)
    if answer.returncode not in (0, 1):
        return answer.stderr.splitlines()[0], False
    report = json.loads(answer.stdout)
    results = [line for line in report["lines"] if line["a"] and line["a"]["kind"] == "result"]
    paired = [line for line in results if line["b"] and not line["is_guess"]]
    left = [line["b"] for line in report["lines"] if line["b"] and not line["a"] and line["b"]["kind"] == "result"]
    missed = [line for line in results if not line["b"] and any(are_equal(line["a"], other) for other in left)]
    differences = [line["absolute"] for line in paired if line["absolute"] is not None]
    apart = [line for line in paired if not line["is_within"]]
    cells = [len(results), len(paired), len(missed), len(apart), f"{max(differences, default=0):.1e}", "yes" if report["outputs_agree"] else "no"]
    return " | ".join(map(str, cells)), report["outputs_agree"] and not missed and not apart


def main(symprof, folder, *names):
    symprof, folder = str(pathlib.Path(symprof).resolve()), pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    good = True
    print("| model | results of the .pt2 | with a partner | alone, though ONNX has the value | beyond the tolerance | largest difference | outputs agree |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for path in files():
        if names and path.stem not in names:
            continue
        text, is_good = row(symprof, *make(symprof, path, folder))
        good &= is_good
        narrower = f", {NARROWER[path.stem]} times narrower, in float32" if path.stem in NARROWER else ""
        print(f"| {path.relative_to(ROOT)}{narrower} | {text} |", flush=True)
    return not good


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

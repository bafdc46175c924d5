#!/usr/bin/env python3
"""Settings of thirty more loops for the recorder (README.md), to standard output; other_loops.json is what it wrote.

    python3.11 other_loops.py > other_loops.json
"""
import ast
import json
import pathlib
import random
import sysconfig

# Heights and widths of SDXL's buckets (Podell et al. 2023, appendix I), as latents: an eighth of the pixels.
TALL = [(64, 256), (64, 248), (64, 240), (64, 232), (72, 224), (72, 216), (72, 208), (80, 200), (80, 192), (88, 184), (88, 176), (88, 168),
        (96, 168), (96, 160), (104, 152), (104, 144), (112, 144), (112, 136), (120, 136), (120, 128)]
BUCKETS = [*TALL, (128, 128), *((width, height) for height, width in TALL)]

CONFS = {"default": "", "expandable": "expandable_segments:True", "rounded": "roundup_power2_divisions:4", "split": "max_split_size_mb:64",
         "collected": "garbage_collection_threshold:0.8"}

MODELS = {
    "gpt": {"kind": "gpt", "layers": 4, "width": 512, "heads": 8, "vocabulary": 32000, "length": 1024},
    "gpt-wide": {"kind": "gpt", "layers": 2, "width": 1024, "heads": 16, "vocabulary": 50257, "length": 1024},
    "bert": {"kind": "bert", "layers": 4, "width": 512, "heads": 8, "vocabulary": 30522, "length": 1024, "dropout": 0.1},
    "encdec": {"kind": "encdec", "layers": 3, "width": 512, "heads": 8, "vocabulary": 32000, "length": 1024, "dropout": 0.1},
    "unet": {"kind": "unet", "channels": [64, 128, 256], "groups": 16},
    "lstm": {"kind": "lstm", "layers": 1, "width": 256, "vocabulary": 20000, "dropout": 0.0},
}


def docstring_lengths():
    """Words of each docstring in the modules of Python's standard library, tests left out."""
    found = []
    for path in sorted(pathlib.Path(sysconfig.get_path("stdlib")).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(errors="replace"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and (text := ast.get_docstring(node)):
                found.append(len(text.split()))
    return found


def batches_of(model, seed, index, lengths):
    """Docstrings padded to the longest of 16, buckets of images, or the recorder's lognormal lengths, by turns."""
    numbers = random.Random(seed)
    if model == "unet":
        return {"kind": "images", "batch": 4 + index, "sizes": BUCKETS}
    if model == "lstm":
        return {"kind": "images", "batch": 16, "sizes": [[max(min(max(numbers.choices(lengths, k=4)), 96), 4)] for _ in range(24)]}
    if index % 2 == 0 and model != "encdec":
        return {"kind": "images", "batch": 16, "sizes": [[max(min(max(numbers.choices(lengths, k=16)), 1024), 4)] for _ in range(100)]}
    return [{"kind": "padded", "batch": 6}, {"kind": "budget", "tokens": 4096}, {"kind": "padded", "batch": 6, "pad_to": 8}][index % 3]


def loops():
    lengths, made = docstring_lengths(), {}
    for m, model in enumerate(MODELS):
        for index, (name, conf) in enumerate(CONFS.items()):
            seed = 1000 + 10 * m + index
            loop = {"model": model, "batches": batches_of(model, seed, index, lengths), "seed": seed, "steps": 200,
                    "dtype": ("fp32", "autocast")[(m + index) % 2], "optimizer": ("adamw", "sgd")[index % 2], "conf": conf}
            if model == "lstm":
                loop["cudnn"] = False
            if (m + index) % 3 == 0 and model not in ("unet", "lstm", "encdec"):
                loop["evaluate"] = {"every": 50, "shape": [32, 384]}
            if (m + index) % 4 == 1:
                loop |= {"accumulate": 2, "steps": 100}
            if name == "collected":
                loop["limit"] = {"of": "free", "what": "reserved", "times": 0.9}
            elif name in ("default", "rounded", "expandable"):
                loop["limit"] = {"of": "alone", "what": "allocated", "times": (1.05, 1.12, 1.2, 1.3)[(m + index) % 4]}
            made[f"{model}-{name}"] = loop
    return made


if __name__ == "__main__":
    print("{" + f'"models": {json.dumps(MODELS)},\n "loops": {{\n'
          + ",\n".join(f" {json.dumps(name)}: {json.dumps(loop)}" for name, loop in loops().items()) + "}}")

#!/usr/bin/env python3
"""Prints symprof's figures beside PyTorch's own (the .json files of this folder) as Markdown tables.

Usage: compare.py SYMPROF_BINARY [--optimizer NAME ...] [--model NAME ...] [--write]

One figure in a cell: both agree. Two: symprof's / PyTorch's. --write puts the tables into
docs/evaluation/accuracy.md, between its two marks, instead of printing them.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/evaluation/accuracy.md"
BEGIN, END = "<!-- tables of compare.py -->\n", "<!-- end of tables -->\n"
OPTIMIZERS = ["sgd", "adamw:foreach", "adamw:fused", "adamw:single"]
EXACT = ["fwd_flops", "bwd_flops", "saved_bytes", "param_bytes", "buffer_bytes"]


def model_file(name):
    found = [ROOT / "models" / folder / f"{name}.pt2" for folder in ("", "tiny")]
    return next((path for path in found if path.exists()), None)


def truths(names):
    for path in sorted((ROOT / "truth").glob("*.json")):
        if (not names or path.stem in names) and model_file(path.stem):
            yield json.loads(path.read_text())


def exported_records(truth):
    return [r for r in truth["records"] if r["kind"] == "exported"]


def is_cast(truth, record):
    """A model that was exported in bf16 has no fp32 records and is taken as it is."""
    return record["dtype"] == "bf16" and any(r["dtype"] == "fp32" for r in truth["records"])


def totals(binary, truth, record, optimizer="none", mode=None):
    command = [binary, "profile", str(model_file(truth["model"])), "--format", "json", "--quiet",
               "--lifetimes", "last-use"]
    command += ["--mode", mode or record["mode"], "--optimizer", optimizer]
    command += ["--attention", "math"] if record["attention"] == "math" else []
    command += ["--dtype", record["dtype"]] if is_cast(truth, record) else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    profile = json.loads(done.stdout)
    if profile["coverage"]["unmodelled"]:
        sys.exit(f"{' '.join(command)}: calls without a rule")
    return profile["totals"]


def number(value):
    return f"{value:,}".replace(",", " ")


def cell(ours, theirs):
    return number(ours) if ours == theirs else f"{number(ours)} / {number(theirs)}"


def peak_cells(ours, theirs):
    difference = ours - theirs
    percent = f"{100 * difference / theirs:+.4f} %" if difference else "0"
    return [number(ours), number(theirs), number(difference), percent]


def table(heads, rows):
    """First the words, then the figures, which stand to the right."""
    lines = [heads, ["---" if i < 4 else "---:" for i in range(len(heads))], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def key(truth, record):
    return [truth["model"], record["mode"], record["dtype"], record["attention"]]


def step_row(binary, truth, record):
    found = totals(binary, truth, record)
    cells = [cell(found[name], record[name]) for name in EXACT]
    peak = record["peak_bytes"]["forward_backward"]
    return key(truth, record) + cells + peak_cells(found["peak_tensor_bytes"], peak)


def other_row(binary, truth, record, step):
    """Of a step with an optimizer, or of the forward pass alone."""
    if step == "inference":
        found = totals(binary, truth, record, mode="inference")
    else:
        found = totals(binary, truth, record, optimizer=step)
    peak = record["peak_bytes"][step.replace(":", "_")]
    words = [truth["model"], record["dtype"], step, found["peak_at"]["phase"]]
    return words + peak_cells(found["peak_tensor_bytes"], peak)


def other_steps(truth, optimizers):
    """(record, step): the optimizers in training mode, inference in evaluation mode."""
    for record in exported_records(truth):
        if record["attention"] == "math":
            continue
        steps = optimizers if record["mode"] == "train" else ["inference"]
        for step in steps:
            yield record, step


def tables(binary, names, optimizers):
    found = list(truths(names))
    pairs = [(truth, record) for truth in found for record in exported_records(truth)]
    others = [(truth, *other) for truth in found for other in other_steps(truth, optimizers)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        steps = list(pool.map(lambda pair: step_row(binary, *pair), pairs))
        other_rows = list(pool.map(lambda other: other_row(binary, *other), others))
    peaks = ["peak", "MemTracker", "difference", "%"]
    heads = ["model", "mode", "dtype", "attention", "fwd FLOPs", "bwd FLOPs", "saved", "parameters",
             "buffers", *peaks]
    return ("Forward and backward:\n\n" + table(heads, steps) +
            "\nA step with an optimizer whose states exist already, and inference:\n\n" +
            table(["model", "dtype", "step", "peak in", *peaks], other_rows))


def write(text):
    before, rest = DOCUMENT.read_text().split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", metavar="SYMPROF_BINARY")
    parser.add_argument("--optimizer", nargs="*", default=OPTIMIZERS, choices=OPTIMIZERS)
    parser.add_argument("--model", nargs="*", default=[], metavar="NAME", help="default: all")
    parser.add_argument("--write", action="store_true", help="into docs/evaluation/accuracy.md")
    args = parser.parse_args()
    text = tables(args.binary, args.model, args.optimizer)
    if args.write:
        write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Profiles the models of models.py as objects, and compares them with what record.py got from PyTorch.

Usage: compare.py FOLDER [--models NAME,…] [--steps NAME,…] [--json FILE] [--table FILE]
       (PYTHONPATH has the package symprof; packages as for truth/foreign)

Both run the same code, truth/measure.py's step of training or of inference. FLOPs, saved bytes and peaks of tensors have
to be equal to the byte. A difference without a line in causes.json is called unexplained, and the command fails.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import sys
import time

import symprof  # Before torch.

import models  # The folders of truth are on the path from here on.
import catalog

FIGURES = {"fwd_flops": "forward FLOPs", "bwd_flops": "backward FLOPs", "saved_bytes": "saved", "peak_bytes": "peak"}
HERE = pathlib.Path(__file__).resolve().parent


def profile(name, step):
    """Of the second of two steps; seconds are those of both, without building."""
    import figures
    import measure
    from symprof._module import OnDevice, on_device

    call = figures.Call(*models.build(name, step))
    given, call.inputs = call.inputs, []  # An attribute would come to the device, too.
    start = time.perf_counter()
    with symprof.simulate(mode="inference" if step == "inference" else "train") as run, on_device(call):
        inputs = OnDevice(run).copy(given)
        call.train(step != "inference")
        module = figures.Autocast(call) if step == "autocast" else call
        for _ in range(2):
            with measure.uncollected():
                (measure.inference_step if step == "inference" else measure.training_step)(module, inputs)
            run.end_step()
    totals = run.profile.totals
    found = {figure: totals[figure] for figure in FIGURES if figure in totals}
    found["peak_bytes"] = totals["peak_tensor_bytes"]
    return {**found, "seconds": time.perf_counter() - start, "warnings": run.profile.warnings}


def in_child(name, step):
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        with os.fdopen(reader) as answer:
            text = answer.read()
        _, status = os.waitpid(child, 0)
        return json.loads(text) if text else {"error": f"ended with status {status}"}
    os.close(reader)
    try:
        found = profile(name, step)
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"}
    with os.fdopen(writer, "w") as answer:
        answer.write(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)


def differing(ours, truth):
    if "error" in ours:
        return {"error": ours["error"]}
    return {figure: (ours[figure], truth[figure]) for figure in FIGURES
            if figure in truth and ours[figure] != truth[figure]}


def causes_of(name, step, differences):
    """{figure: its cause or None}"""
    known = json.loads((HERE / "causes.json").read_text())
    return {figure: next((line["cause"] for line in known if fnmatch.fnmatch(name, line["model"])
                          and fnmatch.fnmatch(step, line.get("step", "*"))
                          and fnmatch.fnmatch(figure, line.get("figure", "*"))), None) for figure in differences}


def table(rows):
    lines = ["| step | compared | FLOPs and saved bytes equal | peak equal | not compared |", "|---|---|---|---|---|"]
    for step in models.STEPS:
        here = [row for row in rows if row["step"] == step]
        compared = [row for row in here if "refused" not in row]
        costs = sum(not {"error", "fwd_flops", "bwd_flops", "saved_bytes"} & row["differences"].keys() for row in compared)
        peaks = sum(not {"error", "peak_bytes"} & row["differences"].keys() for row in compared)
        costs = "—" if step == "inference" else costs
        lines.append(f"| {step} | {len(compared)} | {costs} | {peaks} | {len(here) - len(compared)} |")
    lines += ["", "| model | step | figure | symprof | PyTorch | cause |", "|---|---|---|---|---|---|"]
    for row in rows:
        for figure, values in row.get("differences", {}).items():
            ours, theirs = (values, "") if figure == "error" else values
            lines.append(f"| {row['model']} | {row['step']} | {FIGURES.get(figure, figure)} | {ours} | {theirs} "
                         f"| {row['causes'][figure] or 'unexplained'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--models")
    parser.add_argument("--steps", default=",".join(models.STEPS))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    args = parser.parse_args()
    catalog.prepare_packages()
    rows = []
    for name in args.models.split(",") if args.models else models.names():
        for step in args.steps.split(","):
            path = args.folder / f"{name}.{step}.json"
            truth = json.loads(path.read_text()) if path.exists() else {"failed": "not recorded"}
            ours = in_child(name, step)
            row = {"model": name, "step": step, "ours": ours}
            if "failed" in truth:
                row["refused"] = truth["failed"]
            else:
                row["differences"] = differing(ours, truth)
                row["causes"] = causes_of(name, step, row["differences"])
            rows.append(row)
            print(step, name, row.get("refused") or row["differences"] or "equal", flush=True)
            if "error" in ours and "refused" in row:
                print("   and symprof:", ours["error"], flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    if args.table:
        args.table.write_text(table(rows))
    unexplained = [row for row in rows if None in row.get("causes", {}).values()]
    print(f"{len(rows)} compared, {len(unexplained)} with an unexplained difference")
    return bool(unexplained)


if __name__ == "__main__":
    sys.exit(main())

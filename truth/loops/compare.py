#!/usr/bin/env python3
"""Loops whose batches differ, run by symprof, beside what PyTorch's CUDA build held after every step (README.md).

    PYTHONPATH=build/release/python .deps/python/bin/python truth/loops/compare.py FOLDER [NAME ...]
"""
import argparse
import gzip
import importlib.util
import json
import pathlib
import resource
import sys
import tempfile

import symprof  # Before torch.
from symprof._loop_tapes import Pass, record_loop

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
from device import without_plans  # noqa: E402

FIELDS = ("allocated_bytes", "reserved_bytes", "peak_allocated_bytes", "peak_reserved_bytes", "alloc_retries", None, "inactive_split_bytes", "segments")


def loops_of(folder):
    spec = importlib.util.spec_from_file_location("loops", folder / "loops.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(path):
    with gzip.open(path, "rt") as file:
        return json.load(file)


def play_loop(loops, record, to_do):
    """As `run` of loops.py does it, each kind of row once."""
    loop, model = record["loop"], record["model"]
    is_autocast, accumulate = loop["dtype"] == "autocast", loop.get("accumulate", 1)
    torch.backends.cudnn.enabled = loop.get("cudnn", True)
    torch.backends.cuda.enable_cudnn_sdp(False)  # As in the recordings.
    with tempfile.TemporaryDirectory() as folder, symprof.simulate(device=str(without_plans(folder))) as run:
        run.want_tapes()
        network = loops.network_of(model).to("cuda").train()
        parameters = list(network.parameters())
        if loop["optimizer"] == "sgd":
            optimizer = torch.optim.SGD(parameters, lr=0.01, momentum=0.9, foreach=True)
        else:
            optimizer = torch.optim.AdamW(parameters, lr=1e-4, foreach=True)
        names = {}

        def evaluate(shape):
            network.eval()
            with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=is_autocast):
                network(*loops.inputs_of(model, shape, "cuda"))
            network.train()

        def do(row):
            kind, shape = to_do[row]
            if kind == "evaluate":
                return evaluate(shape)
            names["inputs"] = loops.inputs_of(model, shape, "cuda")
            with torch.autocast("cuda", torch.bfloat16, enabled=is_autocast):
                names["loss"] = network(*names["inputs"]) / accumulate if accumulate > 1 else network(*names["inputs"])
            names["loss"].backward()
            if kind == "step":
                optimizer.step()
                optimizer.zero_grad()

        passes = [Pass((kind, tuple(shape)), kind != "micro", kind != "evaluate") for kind, shape in to_do]
        finish = record_loop(run, passes, do)
    torch.backends.cudnn.enabled = True
    return finish()


def differences(rows, ours, ooms):
    """The first row that differs of each column, and how many do; the row of an OOM is compared by its reserved bytes."""
    found = {}
    for i, (theirs, row) in enumerate(zip(rows, ours)):
        is_oom = any(oom["row"] == i for oom in ooms)
        for field, value in zip(FIELDS, theirs[2:]):
            if field is None or (is_oom and field != "reserved_bytes"):
                continue
            mine = getattr(row, field)
            if mine != value:
                first = found.setdefault(field, [0, i, theirs[1], value, mine])
                first[0] += 1
    return found


def compare(loops, record, runs):
    tapes = {}
    good = True
    for name in runs or record["runs"]:
        run = record["runs"][name]
        shapes = record["to_do"] if name in ("free", "run") else loops.alone_rows(record["loop"], record["heaviest"]["shape"])
        key = name in ("free", "run")
        if key not in tapes:
            tapes[key] = play_loop(loops, record, shapes)
        limit = run["limit"]
        memory = tapes[key].play(record["loop"]["conf"], record["device_bytes"], limit / record["device_bytes"] if limit else 1.0)
        ooms = run["ooms"]
        refused = memory.refused.row if memory.refused else None
        oom = ooms[0]["row"] if ooms else None
        found = differences(run["rows"], memory.rows, ooms)
        is_equal = not found and refused == oom
        good &= is_equal
        print(f"{record['name']}\t{name}\t{len(run['rows'])} rows\t{'equal' if is_equal else 'differs'}\toom {oom}, ours {refused}\tunmatched {memory.unmatched_blocks}")
        for field, (count, row, shape, theirs, mine) in found.items():
            print(f"    {field}: {count} rows, first {row} {shape}: {theirs}, ours {mine} ({mine - theirs:+})")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", nargs="*")
    options = parser.parse_args()
    loops = loops_of(options.folder)
    names = options.names or sorted(path.name.removesuffix(".json.gz") for path in options.folder.glob("*.json.gz"))
    good = 0
    for name in names:
        record = read(options.folder / f"{name}.json.gz")
        loops.MODELS[record["loop"]["model"]] = record["model"]
        good += compare(loops, record, options.runs)
        print(f"    {resource.getrusage(resource.RUSAGE_SELF).ru_utime:.0f} s so far", flush=True)
    print(f"{good} of {len(names)} loops equal in every row")
    sys.exit(good != len(names))


if __name__ == "__main__":
    main()

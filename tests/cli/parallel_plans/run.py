#!/usr/bin/env python3
"""Emitted plans, carried out: each layout as a Python file, on gloo with as many processes, whose loss and gradients have
to be those of one process, and whose collectives those of the plan.

    run.py SYMPROF [LAYOUT ...]    with a Python that has torch; without layouts all of them"""
import json
import multiprocessing
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

import rank

HERE = pathlib.Path(__file__).resolve().parent
LAYOUTS = {"ddp=2": 2, "fsdp=2 mb=2": 2, "hsdp=2x2": 4, "tp=2": 2, "tp=4:sp": 4, "fsdp=2 tp=2": 4, "ddp=2 tp=2:sp": 4,
           "pp=2:1f1b:mb=4": 2, "fsdp=2 pp=2:1f1b:mb=2": 4, "pp=2:interleaved:mb=4": 2, "ddp=2 pp=2:1f1b:mb=2": 4,
           "fsdp=2 pp=2:1f1b:mb=2 ckpt=4": 4, "pp=2:zero-bubble:mb=4": 2, "fsdp=2 pp=2:zero-bubble:mb=4": 4,
           "tp=2 pp=2:1f1b:mb=4": 4, "tp=2:sp pp=2:interleaved:mb=4": 4, "fsdp=2 tp=2:sp pp=2:1f1b:mb=2": 8,
           "ddp=2 tp=2 pp=2:1f1b:mb=2": 8, "tp=2:sp pp=2:zero-bubble:mb=4": 4, "tp=2 pp=2:zero-bubble:mb=4": 4,
           "hsdp=2x2 tp=2:sp mb=2": 8, "fsdp=2 ckpt=4": 2,
           "tp=2 ckpt=3": 2, "tp=2:sp ckpt=4": 2, "pp=2:1f1b:mb=2 ckpt=4": 2, "tp=2:nodes": 2, "fsdp=2 tp=2:nodes": 4,
           "fsdp=2 ep=2": 2, "ddp=4 ep=4": 4, "fsdp=4 ep=4 mb=2": 4, "fsdp=2 ep=2 ckpt=4": 2}
LARGEST, LARGEST_OF_EXPERTS = 1e-12, 1e-6  # Numbers are float64; with experts float32.
EXPERTS = 8
EXPORT = """
import torch, decoder
model, (inputs, _) = decoder.make_model({experts}), decoder.make_batch(2)
if {experts}:  # PyTorch exports their products in bfloat16 alone.
    model.to(torch.bfloat16)
torch.export.save(torch.export.export(model, (inputs,)), {path!r})
"""
# Of the same modules, large enough for placements inside the blocks to be worth something.
EXPORT_WIDE = """
import pathlib, sys, torch, decoder
from torch._subclasses.fake_tensor import FakeTensorMode
sys.path.append({models!r})
import pt2_file
with FakeTensorMode():
    model = decoder.Decoder(width=4096, heads=8, groups=4, inner=8192)
    program = pt2_file.export(model, (torch.zeros(2, 2048, dtype=torch.int64),), "train")
pt2_file.write(program, pathlib.Path({path!r}), keep_weights=False)
"""
# How the engines call them below autograd.
NAMES = {("shard", "all_gather"): "_allgather_base_", ("shard", "reduce_scatter"): "_reduce_scatter_base_",
         ("data", "all_reduce"): "allreduce_", ("tensor", "all_reduce"): "all_reduce",
         ("tensor", "all_gather"): "all_gather_into_tensor", ("tensor", "reduce_scatter"): "reduce_scatter_tensor",
         ("expert", "all_to_all"): "all_to_all_single"}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def mesh_of(layout, processes):
    """HSDP shards within a node."""
    return f"2x{processes // 2}" if "hsdp" in layout else str(processes)


def has_experts(layout):
    return "ep=" in layout


def problems_of(found, plan):
    largest = LARGEST_OF_EXPERTS if has_experts(plan["layout"]) else LARGEST
    if found["missing"] or not found["loss"] < largest or not found["gradients"] < largest:
        yield "loss or gradients differ"
    if found["collectives"] is None:  # A pipeline.
        return
    made = {name: count for name, count in found["collectives"].items() if name in NAMES.values()}
    predicted = {NAMES[one["dimension"], one["kind"]]: one["count"] for one in plan["collectives"]}
    if made != predicted:
        yield f"predicted {predicted}, made {made}"


def run_ranks(processes, path, results, experts):
    environment = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(processes),
                   "EXPERTS": str(experts)}
    fork = multiprocessing.get_context("fork")  # torch is there already.
    ranks = [fork.Process(target=rank.run_rank, args=(i, environment, path, results)) for i in range(processes)]
    for one in ranks:
        one.start()
    for one in ranks:
        one.join(300)
    good = all(one.exitcode == 0 for one in ranks)
    for one in ranks:
        if one.is_alive():
            one.kill()
    return good


def try_layout(symprof, model, folder, layout, processes):
    asked = [symprof, "plan", "parallel", model, "--mesh", mesh_of(layout, processes), "--global-batch", "8", "--layout",
             layout, "--device", "h100", "--optimizer", "adamw", "--format"]
    path, results = os.path.join(folder, "plan.py"), os.path.join(folder, "results.json")
    subprocess.run(asked + ["python", "-o", path], check=True)
    answer = json.loads(subprocess.run(asked + ["json"], check=True, capture_output=True).stdout)
    plan = answer["plan"]
    if not run_ranks(processes, path, results, EXPERTS if has_experts(layout) else 0):
        print(f"{layout}: a rank failed")
        return False
    found = json.loads(pathlib.Path(results).read_text())
    problems = list(problems_of(found, plan)) + ["its blocks skip none"] * answer["skips_blocks"]
    print(f"{layout}: loss {found['loss']:.2g}, gradients {found['gradients']:.2g}", *problems, sep="; ", flush=True)
    return not problems


def main():
    symprof, *only = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        models = {name: os.path.join(folder, f"{name}.pt2") for name in ("small", "experts", "wide")}
        for name, text in (("small", EXPORT), ("experts", EXPORT), ("wide", EXPORT_WIDE)):
            code = text.format(path=models[name], models=str(HERE.parent.parent.parent / "models"),
                               experts=EXPERTS if name == "experts" else 0)
            subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, env=os.environ | {"PYTHONPATH": str(HERE)})
        tried = [try_layout(symprof, models["wide" if "nodes" in layout else "experts" if has_experts(layout) else "small"],
                            folder, layout, processes)
                 for layout, processes in LAYOUTS.items() if not only or layout in only]
    return 0 if all(tried) else 1


if __name__ == "__main__":
    sys.exit(main())

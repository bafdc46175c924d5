#!/usr/bin/env python3
"""Emitted plans, carried out: each layout as a Python file, on gloo with as many processes, whose loss and gradients have
to be those of one process.

    run.py SYMPROF PYTHON [LAYOUT …]    PYTHON has torch"""
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LAYOUTS = {"ddp=2": 2, "fsdp=2 mb=2": 2, "hsdp=2x2": 4, "tp=2": 2, "tp=4:sp": 4, "fsdp=2 tp=2": 4, "ddp=2 tp=2:sp": 4,
           "pp=2:1f1b:mb=4": 2, "fsdp=2 pp=2:1f1b:mb=2": 4, "pp=2:interleaved:mb=4": 2, "hsdp=2x2 tp=2:sp mb=2": 8}
EXPORT = """
import torch, decoder
model, (inputs, _) = decoder.make_model(), decoder.make_batch(2)
torch.export.save(torch.export.export(model, (inputs,)), {path!r})
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def mesh_of(layout, processes):
    """HSDP shards within a node."""
    return f"2x{processes // 2}" if "hsdp" in layout else str(processes)


def run_ranks(python, plan, processes):
    environment = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1",
                                "WORLD_SIZE": str(processes)}
    ranks = [subprocess.Popen([python, "-W", "ignore", HERE / "rank.py", plan], text=True, stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE, env=environment | {"RANK": str(i), "LOCAL_RANK": str(i)})
             for i in range(processes)]
    good = True
    for rank in ranks:
        try:
            out, errors = rank.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            for one in ranks:
                one.kill()
            raise
        print(out, end="")
        if rank.returncode != 0:
            print(errors[-3000:])
            good = False
    return good


def main():
    symprof, python, *only = sys.argv[1:]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "decoder.pt2")
        subprocess.run([python, "-W", "ignore", "-c", EXPORT.format(path=model)], check=True, env=os.environ | {"PYTHONPATH": str(HERE)})
        for layout, processes in LAYOUTS.items():
            if only and layout not in only:
                continue
            plan = os.path.join(folder, layout.replace(" ", "_").replace(":", "_").replace("=", "") + ".py")
            subprocess.run([symprof, "plan", "parallel", model, "--mesh", mesh_of(layout, processes), "--global-batch", "8",
                            "--layout", layout, "--device", "h100", "--optimizer", "adamw", "--format", "python", "-o",
                            plan], check=True)
            good = run_ranks(python, plan, processes) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

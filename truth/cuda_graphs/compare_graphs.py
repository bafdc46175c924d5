#!/usr/bin/env python3
"""Programs with CUDA graphs in symprof's simulation beside PyTorch's CUDA build (records.json, record.py).

    PYTHONPATH=build/release/python .deps/python/bin/python truth/cuda_graphs/compare_graphs.py [PROGRAM ...]
"""
import json
import pathlib
import sys

import symprof  # Before torch.

import torch

import graph_programs as programs

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))
import device  # noqa: E402

RECORDS = json.loads((HERE / "records.json").read_text())


def figures(run):
    now = run._program.memory()
    return {"allocated": now.allocated_bytes, "reserved": now.reserved_bytes, "peak_allocated": now.peak_allocated_bytes,
            "peak_reserved": now.peak_reserved_bytes, "requested": now.requested_bytes, "pools": now.graph_pool_bytes}


def simulated(name, folder):
    """What symprof says at each point, and the run."""
    found = {}
    with symprof.simulate(str(device.without_plans(folder))) as run:
        torch.backends.cuda.enable_cudnn_sdp(False)

        def note(label, graph=None):
            found[label] = figures(run)
            torch.cuda.reset_peak_memory_stats()

        programs.PROGRAMS[name](note)
    return found, run


def main():
    import tempfile

    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or programs.PROGRAMS:
            found, _ = simulated(name, pathlib.Path(folder))
            for label, wanted in RECORDS[name].items():
                off = {key: found[label][key] - value for key, value in wanted.items() if found[label][key] != value}
                differ += bool(off)
                print(f"{name}, {label}: {off or 'equal'}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

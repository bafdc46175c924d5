"""What PyTorch's CUDA build says of each program of graph_programs.py: writes records.json beside it, with the environment of the stub
driver (README.md). One program a process.

Usage: record.py [PROGRAM …]
"""
import json
import pathlib
import subprocess
import sys

import graph_programs as programs

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE / "records.json"


def pool_bytes():
    """Of all private pools: segments of the default pool have the id (0, 0)."""
    import torch

    return sum(segment["total_size"] for segment in torch.cuda.memory_snapshot() if tuple(segment["segment_pool_id"]) != (0, 0))


def figures():
    import torch

    cuda = torch.cuda
    return {"allocated": cuda.memory_allocated(), "reserved": cuda.memory_reserved(), "peak_allocated": cuda.max_memory_allocated(),
            "peak_reserved": cuda.max_memory_reserved(), "requested": cuda.memory_stats()["requested_bytes.all.current"],
            "pools": pool_bytes()}


def run(name):
    import torch

    torch.backends.cuda.enable_cudnn_sdp(False)
    found = {}

    def note(label, graph=None):
        found[label] = figures()
        torch.cuda.reset_peak_memory_stats()

    programs.PROGRAMS[name](note)
    return found


def main():
    names = sys.argv[1:]
    if len(names) == 1:
        print(json.dumps(run(names[0])))
        return
    records = json.loads(OUT.read_text()) if OUT.exists() else {}
    for name in names or programs.PROGRAMS:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        records[name] = json.loads(done.stdout.splitlines()[-1])
        OUT.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""CPU seconds of compiled training steps: symprof beside torch.compile for the GPU of a stub CUDA driver.

Usage: benchmarks/compiled.py [-n ROUNDS] [--layers 3 32] [--on-a-gpu 'COMMAND'] [-o RESULT.json]   (torch; symprof in PYTHONPATH)

Whole commands, in turn, each in a process of its own, with the CPU seconds (user and system) of it and of its children:
  eager     `symprof run --device h200 --eager` of a GPT's program: imports, model, four steps, report;
  cold      the same with torch.compile, no cache of compiled graphs;
  cached    the same, compiled by an earlier run;
  triton    the program itself under COMMAND, which runs `python FILE` on PyTorch's CUDA build and a stub CUDA driver
            (truth/launches/), where Inductor compiles kernels with Triton and ptxas; its caches are empty folders.
            Without --on-a-gpu it is left out.
The least of the rounds, and (median). The last columns are ratios after `eager` is subtracted: seconds of compilation alone.
"""
import argparse
import json
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = """
import sys
sys.path.insert(0, {models!r})
import torch
import models

with torch.device("cuda"):
    network = models.Gpt(layers={layers})
optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)
compiled = torch.compile(network)
ids = torch.randint(0, 50257, (4, 1024), device="cuda")
for _ in range(4):
    with torch.autocast("cuda", torch.bfloat16):
        loss = compiled(ids, ids)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def commands(program: pathlib.Path, folder: pathlib.Path, gpu: str | None) -> dict[str, tuple[list[str], dict[str, str]]]:
    """By column: a command and its environment."""
    run = [sys.executable, "-m", "symprof", "run", "--device", "h200"]
    cache = {"XDG_CACHE_HOME": str(folder / "cache")}
    found = {"eager": ([*run, "--eager", str(program)], {}), "cold": ([*run, "--no-cache", str(program)], {}),
             "cached": ([*run, str(program)], cache)}
    if gpu:
        empty = tempfile.mkdtemp(dir=folder)
        found["triton"] = ([*shlex.split(gpu), "python", str(program)],
                           {"TRITON_CACHE_DIR": f"{empty}/triton", "TORCHINDUCTOR_CACHE_DIR": f"{empty}/inductor"})
    return found


def seconds_of(layers: int, rounds: int, gpu: str | None) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "gpt.py"
        program.write_text(PROGRAM.format(models=str(ROOT / "truth" / "compiled"), layers=layers))
        cpu_seconds(*commands(program, folder, None)["cached"])  # Fills the cache.
        for _ in range(rounds):
            for column, command in commands(program, folder, gpu).items():
                found.setdefault(column, []).append(cpu_seconds(*command))
    return found


def line(layers: int, seconds: dict[str, list[float]]) -> str:
    least = {column: min(each) for column, each in seconds.items()}
    cells = [f"{least[column]:.2f} ({statistics.median(each):.2f})" for column, each in seconds.items()]
    compiling = {column: max(value - least["eager"], 0.01) for column, value in least.items()}
    against = f"{compiling['triton'] / compiling['cold']:.1f}" if "triton" in least else "-"
    return f"| {layers} | {' | '.join(cells)} | {against} | {compiling['cold'] / compiling['cached']:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--rounds", type=int, default=3)
    parser.add_argument("--layers", type=int, nargs="+", default=[3, 32])
    parser.add_argument("--on-a-gpu", metavar="COMMAND")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    measured = {}
    for place, layers in enumerate(options.layers):
        measured[layers] = seconds_of(layers, options.rounds, options.on_a_gpu)
        if place == 0:
            print(f"| layers | {' | '.join(measured[layers])} | triton / cold | cold / cached |")
            print("| --- " * (len(measured[layers]) + 3) + "|")
        print(line(layers, measured[layers]), flush=True)
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(measured) + "\n")


if __name__ == "__main__":
    main()

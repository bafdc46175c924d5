#!/usr/bin/env python3
"""How long `symprof memory` takes, beside Python's unpickling and torch.cuda._memory_viz in the same run.

Usage: memory_snapshots.py SYMPROF_BINARY MEMORY_VIZ.py SNAPSHOT … [--events N]

MEMORY_VIZ.py is torch/cuda/_memory_viz.py; it is loaded without torch. --events adds a snapshot of so many events that this
script makes. Prints a line for each file: best of five whole commands, the largest resident
memory, and CPU seconds of Python."""
import argparse
import importlib.util
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import time


def made(events):
    """A training run with stacks of 12 frames: blocks come and go, up to 2000 of them are held."""
    draw = random.Random(7)
    frames = [{"name": f"forward_{i}", "filename": f"/job/model_{i % 9}.py", "line": i} for i in range(400)]
    stacks = [draw.sample(frames, 12) for _ in range(3000)]
    trace, held, free, address = [], [], [], 1 << 40

    def add(action, block):
        at, size, stack = block
        trace.append({"action": action, "addr": at, "size": size, "stream": 0, "time_us": 1700000000000000 + len(trace),
                      "compile_context": "N/A", "user_metadata": "", "frames": stack})

    while len(trace) < events:
        if held and (len(held) > 2000 or draw.random() < 0.5):
            block = held.pop(draw.randrange(len(held)))
            free.append(block[0])
            add("free_requested", block)
            add("free_completed", block)
        else:
            if not free:
                free.append(address := address + (1 << 26))
            held.append((free.pop(), draw.randrange(1, 1 << 25), stacks[draw.randrange(3000)]))
            add("alloc", held[-1])
    return trace, held


def write_made(path, events):
    trace, held = made(events)
    segments = []
    for at, size, stack in held:
        block = (size + 511) // 512 * 512
        segments.append({"device": 0, "address": at, "total_size": 1 << 26, "allocated_size": block, "active_size": block,
                         "requested_size": size, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                         "is_expandable": False, "frames": stack, "blocks": [
                             {"address": at, "size": block, "requested_size": size, "state": "active_allocated", "frames": stack},
                             {"address": at + block, "size": (1 << 26) - block, "requested_size": 0, "state": "inactive",
                              "frames": []}]})
    path.write_bytes(pickle.dumps({"segments": segments, "device_traces": [trace], "allocator_settings": {},
                                   "external_annotations": []}))
    return len(trace)


# In a process of its own: what a process has before it becomes another program counts as that one's memory.
MEASURE = """
import os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
sys.exit(status != 0)
"""


def command(program, path):
    """Seconds of wall clock, seconds of processor, MiB."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, program, "memory", path, "--format", "json"], capture_output=True,
                          text=True, check=True)
    return [float(figure) for figure in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("viz")
    parser.add_argument("snapshots", nargs="*")
    parser.add_argument("--events", type=int)
    options = parser.parse_args()
    spec = importlib.util.spec_from_file_location("memory_viz", options.viz)
    viz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(viz)
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(path) for path in options.snapshots]
        if options.events:
            paths.append(pathlib.Path(folder) / "made.pickle")
            print(f"made: {write_made(paths[-1], options.events)} events, {paths[-1].stat().st_size / 1e6:.1f} MB")
        print("| file | symprof memory, s | CPU s | MiB | Python: read, CPU s | trace, CPU s | times the CPU |")
        for path in paths:
            runs = [command(options.program, path) for _ in range(5)]
            begin = time.process_time()
            content = pickle.loads(path.read_bytes())
            read = time.process_time() - begin
            begin = time.process_time()
            viz.trace(content)
            traced = time.process_time() - begin
            cpu = min(run[1] for run in runs)
            print(f"| {path.name} | {min(run[0] for run in runs):.3f} | {cpu:.3f} | {max(run[2] for run in runs):.0f} "
                  f"| {read:.3f} | {traced:.3f} | {(read + traced) / cpu:.1f} |")


if __name__ == "__main__":
    main()

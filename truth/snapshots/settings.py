#!/usr/bin/env python3
"""Snapshots by PyTorch's CUDA build on a stub CUDA driver, one for each way of recording, with the allocator's own counters.

Usage: settings.py make FOLDER [CASE …]           # with the CUDA build, in the fake GPU's environment (truth/scripts/README.md)
       settings.py compare SYMPROF_BINARY FOLDER  # exit 1 where a figure differs
       settings.py predict FOLDER                 # with the Python that imports symprof: a row for each case
       settings.py run CASE                       # what `predict` simulates

`expandable` was made with PYTORCH_ALLOC_CONF=expandable_segments:True, so that cuBLAS's workspace lies in such segments, too.
`expected.json` has torch.cuda.memory_stats: peaks since the first event of the snapshot, and what is held at its end."""
import gc
import gzip
import json
import pathlib
import subprocess
import sys

COUNTERS = ("requested", "allocated", "active", "reserved")


def model(torch):
    return torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)).cuda()


def steps(torch, count=3):
    """A loop with blocks of many sizes."""
    layers = model(torch)
    optimizer = torch.optim.AdamW(layers.parameters())
    for step in range(count):
        layers(torch.randn(64 + 32 * step, 256, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def streams(torch):
    """Blocks that a second stream uses are given back late."""
    side = torch.cuda.Stream()
    for size in range(1, 9):
        shared = torch.empty(size << 19, device="cuda")
        with torch.cuda.stream(side):
            shared.record_stream(side)
            own = torch.empty(size << 18, device="cuda")
            own.add_(1)
        del shared
    steps(torch, 1)


def pools(torch):
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        held = [torch.empty(size << 18, device="cuda") for size in range(1, 6)]
    steps(torch, 1)
    del held[1::2]
    steps(torch, 1)
    return pool, held


def graphs(torch):
    static = torch.empty(64, 256, device="cuda")
    layers = model(torch)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = layers(static)
    steps(torch, 1)
    return graph, out


# The program, the allocator's settings, and the arguments of _record_memory_history.
CASES = {
    "all": (steps, "", {}),
    "python": (steps, "", {"stacks": "python"}),
    "no_context": (steps, "", {"context": None}),
    "alloc_context": (steps, "", {"context": "alloc"}),
    "state": (steps, "", {"enabled": "state"}),
    "ring": (steps, "", {"is_ring": True}),
    "expandable": (steps, "expandable_segments:True", {"stacks": "python"}),
    "roundup": (steps, "roundup_power2_divisions:4", {"stacks": "python"}),
    "split": (steps, "max_split_size_mb:32", {"stacks": "python"}),
    "streams": (streams, "", {"stacks": "python"}),
    "pools": (pools, "", {"stacks": "python"}),
    "graphs": (graphs, "", {"stacks": "python"}),
}


def events_of(torch):
    return sum(len(trace) for trace in torch.cuda.memory._snapshot()["device_traces"])


def record(torch, case, path):
    _, conf, arguments = CASES[case]
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.memory._set_allocator_settings(conf or "expandable_segments:False")
    arguments = {"max_entries": 100_000, **arguments}
    if arguments.pop("is_ring", False):  # As many entries as the program makes, behind another run of it that is lost.
        torch.cuda.memory._record_memory_history(max_entries=100_000)
        steps(torch)
        steps(torch)
        before = events_of(torch)
        steps(torch)
        arguments["max_entries"] = events_of(torch) - before
        torch.cuda.memory._record_memory_history(enabled=None)
    torch.cuda.memory._record_memory_history(**arguments)
    if case == "ring":
        steps(torch)
    torch.cuda.reset_peak_memory_stats()
    held = CASES[case][0](torch)
    stats = torch.cuda.memory_stats()
    torch.cuda.memory._dump_snapshot(str(path))
    torch.cuda.memory._record_memory_history(enabled=None)
    del held
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()
    return {name: {"peak": stats[f"{name}_bytes.all.peak"], "end": stats[f"{name}_bytes.all.current"]} for name in COUNTERS}


def make(folder, cases):
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    steps(torch)
    results = folder / "expected.json"
    expected = json.loads(results.read_text()) if results.exists() else {}
    for case in cases or CASES:
        try:
            expected[case] = record(torch, case, folder / f"{case}.pickle")
        except (RuntimeError, AttributeError) as error:
            print(case, error, flush=True)
            torch.cuda.memory._record_memory_history(enabled=None)
        else:
            print(case, expected[case], flush=True)
        results.write_text(json.dumps(expected, indent=1) + "\n")


def compare(program, folder):
    wrong = 0
    for case, counters in json.loads((folder / "expected.json").read_text()).items():
        done = subprocess.run([program, "memory", folder / f"{case}.pickle.gz", "--format", "json"], capture_output=True, text=True)
        if done.returncode:
            differences = [done.stderr.strip()]
        else:
            answer = json.loads(done.stdout)
            found = {name: {"peak": answer["peaks"][name]["bytes"], "end": answer["end"][f"{name}_bytes"]} for name in COUNTERS}
            wanted = {name: {"end": both["end"]} if case == "state" else both for name, both in counters.items()}  # No events.
            differences = [f"{name} {at} {found[name][at]}, not {value}" for name, both in wanted.items() for at, value in both.items()
                           if found[name][at] != value]
            differences += [f"{count} {what}" for what, count in answer["contradictions"].items() if count]
        wrong += bool(differences)
        equal = f"{answer['events']} events, all counters equal" if not done.returncode else ""
        print(f"{case}: {'; '.join(differences) or equal}")
    return wrong > 0


def run(case):
    import torch

    steps(torch)
    gc.collect()
    torch.cuda.empty_cache()
    if case == "ring":
        steps(torch)
    return CASES[case][0](torch)


def predict(folder):
    print("| snapshot | requests | equal | allocated peak | reserved peak |\n| --- | ---: | ---: | ---: | ---: |")
    for case, (_, conf, arguments) in CASES.items():
        path = folder / f"{case}.pickle.gz"
        if not path.exists() or arguments.get("enabled") == "state":  # It has no events.
            continue
        done = subprocess.run([sys.executable, "-m", "symprof", "run", "--all", *(["--alloc-conf", conf] if conf else []), "--format", "json",
                               "--measured-memory", path, __file__, "run", case], capture_output=True, text=True)
        if done.returncode:
            print(f"| {case} | {done.stderr.strip()} | | | |", flush=True)
            continue
        answer = json.loads(done.stdout)["measured_memory"]
        print(f"| {case} | {answer['measured']['requests']:,} | {answer['equal_requests']:,} | {predicted.off(answer, 'allocated')} "
              f"| {predicted.off(answer, 'reserved')} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "run":
        kept = run(sys.argv[2])
    elif sys.argv[1] == "predict":
        import predicted

        predict(pathlib.Path(sys.argv[2]))
    elif sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), sys.argv[3:])
    else:
        sys.exit(compare(sys.argv[2], pathlib.Path(sys.argv[3])))

#!/usr/bin/env python3
"""Holds the recorded data against itself: a replayed trace gives every recorded peak to the byte.

Usage: check_memory.py [FOLDER]   (default: data/ beside this file; also a folder of single results)
       check_memory.py --sample PYTHON   record one small model on the CPU with that Python, check it
Needs no packages.
"""
import array
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from allocator_replay import Replay, Wrong, check_replay

HERE = pathlib.Path(__file__).resolve().parent


def integers(data, width):
    """A column: first all lowest bytes, then all second ones."""
    count = len(data) // width
    raw = bytearray(len(data))
    for place in range(width):
        raw[place::width] = data[place * count:(place + 1) * count]
    found = array.array({1: "B", 4: "I", 8: "Q"}[width])
    found.frombytes(bytes(raw))
    if sys.byteorder == "big":
        found.byteswap()
    return found


COMPARED = {
    "allocated_bytes": lambda r: r.allocated,
    "max_memory_allocated": lambda r: r.peaks["allocated"],
    "reserved_bytes": lambda r: r.reserved,
    "max_memory_reserved": lambda r: r.peaks["reserved"],
    "requested_bytes": lambda r: r.requested,
    "max_requested_bytes": lambda r: r.peaks["requested"],
}


def replay(record, columns):
    """Replays the whole trace of a case from an empty device; complaints as text."""
    actions = record["trace"]["actions"]
    events = list(zip(columns["action.u8"], columns["size.u64"], columns["offset.u64"]))
    if len(events) != record["trace"]["events"]:
        return [f"{len(events)} events, {record['trace']['events']} expected"]
    state, at, complaints = Replay(), 0, []
    for phase in record["phases"]:
        state.reset_peaks()
        for place in range(at, phase["events"]):
            kind, size, offset = events[place]
            after = next((e[1] for e in events[place + 1:place + 200] if actions[e[0]] == "alloc"), 0) \
                if actions[kind] == "segment_map" else 0
            try:
                state.apply(actions[kind], size, offset, after)
            except (Wrong, KeyError) as error:
                return complaints + [f"event {place} ({actions[kind]}): {error}"]
        at = phase["events"]
        for name, figure in COMPARED.items():
            if figure(state) != phase[name]:
                complaints.append(f"{phase['name']}: {name} is {phase[name]}, replayed {figure(state)}")
    return complaints + final_blocks(state, columns)


def final_blocks(state, columns):
    """The blocks of the last snapshot against those that the replay left."""
    blocks = zip(columns["block_offset.u64"], columns["block_size.u64"], columns["block_state.u8"])
    there = {offset: size for offset, size, used in blocks if used == 1}
    replayed = {offset: block for offset, (block, _, _) in state.live.items()}
    if there != replayed:
        return [f"the snapshot has {len(there)} blocks in use, the replay {len(replayed)}, or other sizes"]
    reserved = sum(columns["segment_size.u64"])
    return [] if reserved == state.reserved else [f"segments of {reserved} bytes, replayed {state.reserved}"]


def consistent(record, calls):
    """What must hold of any case, with a GPU or without one."""
    complaints = []
    if record["case"]["step"] == "forward" and list(calls["ends"]) != ["forward"]:
        complaints.append("a forward step has other parts")
    if any(row >= len(calls["table"]) for row in calls["order"]) or not calls["order"]:
        complaints.append("calls outside their table, or none")
    if list(calls["ends"].values()) != sorted(calls["ends"].values()):
        complaints.append("the parts of a step are out of order")
    for key in ("transient_bytes", "kept_bytes"):
        if calls[key] is not None and len(calls[key]) != len(calls["order"]):
            complaints.append(f"{key} has {len(calls[key])} entries for {len(calls['order'])} calls")
    attention = sum(call["count"] for call in record["attention"])
    fused = sum("_scaled_dot_product" in calls["table"][row][0] and "backward" not in calls["table"][row][0]
                for row in calls["order"])
    if fused > attention:
        complaints.append(f"{fused} attention kernels ran, {attention} attentions were called")
    if bool(record["trace"]) != (record["machine"]["device"] is not None):
        complaints.append("a trace without a GPU, or a GPU without a trace")
    return complaints


def results(folder):
    """(name, files) of every result, from single files or from a model's archive."""
    for path in sorted(folder.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            groups = collections.defaultdict(dict)
            for entry in archive.namelist():
                head, _, name = entry.rpartition("/")
                groups[head or path.stem][name] = archive.read(entry)
        yield from groups.items()


def check_case(files):
    record = json.loads(files["record.json"])
    if record["status"] != "ok":
        return record, [], None
    complaints = consistent(record, json.loads(files["calls.json"]))
    columns = {name: integers(data, int(name[-2:].strip("u")) // 8)
               for name, data in files.items() if name.endswith((".u8", ".u64"))}
    if record["trace"]:
        complaints += replay(record, columns)
    return record, complaints, (bytes(columns["action.u8"]), columns["size.u64"]) if record["trace"] else None


def compare_runs(traces):
    """Two runs of one case, event by event."""
    for name, first in traces.items():
        second = traces.get(name.removesuffix("-base") + "-again") if name.endswith("-base") else None
        if second:
            same = "the same events" if first == second else f"{len(first[0])} and {len(second[0])} events differ"
            print(f"{name} twice: {same}")


def check(folder):
    counts, traces, wrong = collections.Counter(), {}, 0
    for name, files in results(folder):
        if not name.startswith("case-"):
            status = json.loads(files["record.json"])["status"]
            counts[f"{name.partition('-')[0]} {status}"] += 1
            continue
        record, complaints, trace = check_case(files)
        counts[f"case {record['status']}"] += 1
        counts["traces replayed"] += bool(trace)
        traces[name] = trace
        wrong += bool(complaints)
        for complaint in complaints:
            print(f"{name}: {complaint}")
    compare_runs({name: trace for name, trace in traces.items() if trace})
    print(", ".join(f"{count} {what}" for what, count in counts.items() if count), f"in {folder}; {wrong} wrong")
    return wrong == 0 and counts["case ok"] > 0


def check_sample(python):
    """Records one small model without a GPU and checks what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, str(HERE / "record_memory.py"), "--device", "cpu", "--small", "--out", folder,
                   "--only", "^case-gpt2_small-.*-base$"]
        subprocess.run(command, check=True)
        return check(pathlib.Path(folder))


def main():
    check_replay()
    assert list(integers(bytes([1, 2, 0, 1] + [0] * 12), 8)) == [1, 258]
    if sys.argv[1:2] == ["--sample"]:
        sys.exit(not check_sample(sys.argv[2]))
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "data"
    sys.exit(not check(folder))


if __name__ == "__main__":
    main()

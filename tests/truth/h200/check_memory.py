#!/usr/bin/env python3
"""Holds the recorded data against itself: a replayed trace gives every recorded peak to the byte.

Usage: check_memory.py [FOLDER]   (default: data/ beside this file; also a folder of single results)
       check_memory.py --sample PYTHON   record one small model on the CPU with that Python, check it
Needs no packages.
"""
import array
import bisect
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent

# c10/core/AllocatorConfig.h, c10/cuda/CUDACachingAllocator.cpp
MIN_BLOCK = 512
SMALL_SIZE = 1 << 20
SMALL_SEGMENT = 2 << 20


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


def rounded(size):
    return max(MIN_BLOCK, -(-size // MIN_BLOCK) * MIN_BLOCK)


class Wrong(Exception):
    pass


class Segment:
    """Free pieces by address; pieces that touch are one."""

    def __init__(self, small, expandable):
        self.small, self.expandable = small, expandable
        self.free = {}

    def add(self, offset, size):
        for start, length in list(self.free.items()):
            if start + length == offset:
                offset, size = start, length + size
                del self.free[start]
            elif offset + size == start:
                size += length
                del self.free[start]
        self.free[offset] = size

    def cut(self, offset, size):
        for start, length in list(self.free.items()):
            if start <= offset and offset + size <= start + length:
                del self.free[start]
                if start < offset:
                    self.free[start] = offset - start
                if offset + size < start + length:
                    self.free[offset + size] = start + length - offset - size
                return
        raise Wrong(f"{size} bytes at {offset} are not free")


class Replay:
    """The allocator's figures from its own events: addresses are taken from the trace, sizes of
    blocks from its rules for splitting. It also checks that the choice of a block was best fit."""

    def __init__(self):
        self.starts, self.segments = [], {}  # ordinary ones: offset -> (size, Segment)
        self.mapped = {True: Segment(True, True), False: Segment(False, True)}
        self.live, self.pending = {}, {}
        self.allocated = self.reserved = self.requested = 0
        self.calls = 0  # allocations and frees
        self.peaks = collections.Counter()
        self.made = None  # the segment that the next allocation asked for

    def reset_peaks(self):
        self.peaks = collections.Counter(allocated=self.allocated, reserved=self.reserved, requested=self.requested)

    def apply(self, action, size, offset, next_size):
        getattr(self, action)(size, offset, next_size)
        for name in ("allocated", "reserved", "requested"):
            self.peaks[name] = max(self.peaks[name], getattr(self, name))

    def segment_alloc(self, size, offset, _):
        segment = Segment(size == SMALL_SEGMENT, False)
        segment.add(offset, size)
        self.segments[offset] = (size, segment)
        bisect.insort(self.starts, offset)
        self.reserved += size
        self.made = offset

    def segment_free(self, size, offset, _):
        held, segment = self.segments.pop(offset)
        if held != size or segment.free != {offset: size}:
            raise Wrong(f"the segment at {offset} was returned with blocks in use")
        self.starts.remove(offset)
        self.reserved -= size

    def segment_map(self, size, offset, next_size):
        self.mapped[rounded(next_size) <= SMALL_SIZE].add(offset, size)
        self.reserved += size
        self.made = offset

    def segment_unmap(self, size, offset, _):
        for segment in self.mapped.values():
            try:
                segment.cut(offset, size)
                break
            except Wrong:
                continue
        else:
            raise Wrong(f"{size} mapped bytes at {offset} were returned while in use")
        self.reserved -= size

    def owner(self, offset):
        place = bisect.bisect_right(self.starts, offset) - 1
        if place >= 0:
            start = self.starts[place]
            size, segment = self.segments[start]
            if offset < start + size:
                return segment
        for segment in self.mapped.values():
            if offset in segment.free:
                return segment
        raise Wrong(f"no segment at {offset}")

    def alloc(self, size, offset, _):
        want, segment = rounded(size), self.owner(offset)
        there = segment.free.get(offset)
        if there is None or there < want:
            raise Wrong(f"{want} bytes at {offset}: {there} are free there")
        if not segment.expandable:
            self.check_choice(want, offset)
        self.made = None
        rest = there - want
        split = rest >= MIN_BLOCK if segment.small or segment.expandable else rest > SMALL_SIZE
        block = want if split else there
        segment.cut(offset, block)
        self.live[offset] = (block, size, segment)
        self.allocated += block
        self.requested += size
        self.calls += 1

    def check_choice(self, want, offset):
        """Smallest free block that is large enough, the lowest address among equal ones."""
        small = want <= SMALL_SIZE
        fitting = [(length, start) for _, segment in self.segments.values() if segment.small == small
                   for start, length in segment.free.items() if length >= want and start != self.made]
        best = min(fitting, default=(None, self.made))[1]
        if best != offset:
            raise Wrong(f"{want} bytes went to {offset}, the best fit is at {best}")

    def free(self, size, offset, _):
        self.free_requested(size, offset, _)
        self.free_completed(size, offset, _)

    def free_requested(self, size, offset, _):
        block, asked, segment = self.live.pop(offset)
        if asked != size:
            raise Wrong(f"{size} bytes freed at {offset}, {asked} were asked for")
        self.pending[offset] = (block, asked, segment)
        self.allocated -= block
        self.calls += 1

    def free_completed(self, _, offset, __):
        block, asked, segment = self.pending.pop(offset)
        self.requested -= asked  # counted with the active bytes
        segment.add(offset, block)

    def oom(self, size, *_):
        raise Wrong(f"out of memory for {size} bytes in a case that is marked ok")


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


# ------------------------------------------------------------------- a check of the check itself

MIB = 1 << 20


def hand_made(events):
    """The state after (action, size, offset) events."""
    state = Replay()
    state.reset_peaks()
    for place, (action, size, offset) in enumerate(events):
        after = next((e[1] for e in events[place + 1:] if e[0] == "alloc"), 0)
        state.apply(action, size, offset, after)
    return state


def check_replay():
    """Small traces whose figures follow from the allocator's constants."""
    small = hand_made([("segment_alloc", 2 * MIB, 0), ("alloc", 1, 0), ("alloc", 513, 512), ("free", 1, 0)])
    assert (small.allocated, small.peaks["allocated"]) == (1024, 512 + 1024)
    assert (small.requested, small.reserved) == (513, 2 * MIB)
    # What is left of a large block is split off only above 1 MiB.
    whole = hand_made([("segment_alloc", 20 * MIB, 0), ("alloc", 19 * MIB, 0)])
    assert whole.allocated == 20 * MIB
    split = hand_made([("segment_alloc", 20 * MIB, 0), ("alloc", 19 * MIB - 512, 0)])
    assert split.allocated == 19 * MIB - 512
    pages = hand_made([("segment_map", 20 * MIB, 0), ("alloc", 19 * MIB, 0), ("free", 19 * MIB, 0),
                       ("segment_unmap", 20 * MIB, 0)])
    assert (pages.peaks["allocated"], pages.peaks["reserved"], pages.reserved) == (19 * MIB, 20 * MIB, 0)
    for wrong in (
        [("segment_alloc", 2 * MIB, 0), ("alloc", 512, 0), ("alloc", 512, 0)],  # in use
        [("segment_alloc", 2 * MIB, 0), ("alloc", 512, 0), ("alloc", 512, 1024)],  # not the start of a block
        [("segment_alloc", 2 * MIB, 0), ("segment_alloc", 2 * MIB, 4 * MIB), ("alloc", 512, 4 * MIB)],  # not best
        [("segment_alloc", 2 * MIB, 0), ("alloc", 512, 0), ("segment_free", 2 * MIB, 0)],
    ):
        try:
            hand_made(wrong)
        except Wrong:
            continue
        raise AssertionError(f"accepted: {wrong}")
    assert list(integers(bytes([1, 2, 0, 1] + [0] * 12), 8)) == [1, 258]


def check_sample(python):
    """Records one small model without a GPU and checks what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, str(HERE / "record_memory.py"), "--device", "cpu", "--small", "--out", folder,
                   "--only", "^case-gpt2_small-.*-base$"]
        subprocess.run(command, check=True)
        return check(pathlib.Path(folder))


def main():
    check_replay()
    if sys.argv[1:2] == ["--sample"]:
        sys.exit(not check_sample(sys.argv[2]))
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "data"
    sys.exit(not check(folder))


if __name__ == "__main__":
    main()

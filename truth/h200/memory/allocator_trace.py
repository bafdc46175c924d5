"""The allocator's trace: events and blocks as columns, and the phases of a process."""
import array
import collections
import json
import pathlib
import sys
import tempfile

import torch

ACTIONS = ("alloc", "free", "free_requested", "free_completed", "segment_alloc", "segment_free",
           "segment_map", "segment_unmap", "oom")
BLOCK_STATES = ("inactive", "active_allocated", "active_pending_free")


def start_history():
    torch.cuda.memory._record_memory_history("all", context=None, stacks="python")


def trace_entries():
    """The device's entries so far; taking a snapshot adds one that says so, left out here."""
    traces = torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]
    return [entry for entry in traces if entry["action"] in ACTIONS]


def fused(entries):
    """(action, size, address) with a free that completes at once as one event; and for every
    number of entries the number of events that they became."""
    events, became = [], [0]
    for entry in entries:
        action = entry["action"]
        address = entry.get("addr", 0)
        previous = events[-1] if events else None
        if action == "free_completed" and previous and previous[0] == "free_requested" and previous[2] == address:
            events[-1] = ("free", previous[1], address)
        else:
            events.append((action, entry["size"], address))
        became.append(len(events))
    return events, became


def column(values, width):
    """Little-endian integers, first all lowest bytes, then all second ones: it compresses better."""
    data = array.array({1: "B", 4: "I", 8: "Q"}[width], values)
    if sys.byteorder == "big":
        data.byteswap()
    raw = data.tobytes()
    return b"".join(raw[place::width] for place in range(width))


def pack_trace(entries):
    """Columns of the events, addresses as offsets from the lowest; what a reader needs beside."""
    events, became = fused(entries)
    segments = [e[2] for e in events if e[0] in ("segment_alloc", "segment_map")]
    base = min(segments, default=0)
    files = {
        "action.u8": column([ACTIONS.index(e[0]) for e in events], 1),
        "size.u64": column([e[1] for e in events], 8),
        "offset.u64": column([max(e[2] - base, 0) for e in events], 8),
    }
    streams = sorted({entry.get("stream", 0) for entry in entries})
    return {"events": len(events), "actions": ACTIONS, "streams": streams, "base": base}, files, became


def pack_blocks(segments, base):
    """Every segment and block of a snapshot as columns."""
    blocks = [(b, s) for s in segments for b in s["blocks"]]
    starts = []
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            starts.append(block.get("address", address) - base)
            address += block["size"]
    return {
        "segment_offset.u64": column([s["address"] - base for s in segments], 8),
        "segment_size.u64": column([s["total_size"] for s in segments], 8),
        "block_offset.u64": column(starts, 8),
        "block_size.u64": column([b["size"] for b, _ in blocks], 8),
        "block_requested.u64": column([b.get("requested_size", 0) for b, _ in blocks], 8),
        "block_state.u8": column([BLOCK_STATES.index(b["state"].replace("active_awaiting_free", "active_pending_free"))
                                  for b, _ in blocks], 1),
    }


# Whether no other process of this run uses the device; else nobody knows whose its memory is.
DEVICE = {"alone": True}


def device_used_bytes():
    free, total = torch.cuda.mem_get_info()
    return total - free if DEVICE["alone"] else None


PHASE_FIELDS = {
    "allocated_bytes": "allocated_bytes.all.current",
    "max_memory_allocated": "allocated_bytes.all.peak",
    "reserved_bytes": "reserved_bytes.all.current",
    "max_memory_reserved": "reserved_bytes.all.peak",
    "requested_bytes": "requested_bytes.all.current",
    "max_requested_bytes": "requested_bytes.all.peak",
    "active_bytes": "active_bytes.all.current",
    "max_active_bytes": "active_bytes.all.peak",
    "allocations": "allocation.all.allocated",
    "frees": "allocation.all.freed",
}


class Phases:
    """The allocator's figures at the end of each phase, peaks since the phase began."""

    def __init__(self, device):
        self.cuda = device.type == "cuda"
        self.rows = []
        self.stats = None

    def end(self, name):
        row = {"name": name, "entries": None, "device_used_bytes": None, **dict.fromkeys(PHASE_FIELDS)}
        if self.cuda:
            torch.cuda.synchronize()
            self.stats = torch.cuda.memory_stats()
            row |= {key: self.stats.get(stat, 0) for key, stat in PHASE_FIELDS.items()}
            row |= {"entries": len(trace_entries()), "device_used_bytes": device_used_bytes()}
            torch.cuda.reset_peak_memory_stats()
        self.rows.append(row)

    def mark(self, marks, name):
        """Where the forward and the backward of a step end, in allocations and frees so far."""
        if self.cuda:
            stats = torch.cuda.memory_stats()
            marks[name] = {key: stats[PHASE_FIELDS[key]] for key in ("allocations", "frees")}
        else:
            marks[name] = None


def blocks_by_call(step):
    """Every block asked for or given back while `step` runs: [bytes, negative where it is given back; address; bytes
    allocated and reserved after it; the operators open at that time on its thread, outermost first]."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
        step()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    rows, open_calls = [], collections.defaultdict(list)
    wanted = [e for e in events if e.get("cat") == "cpu_op" or e.get("name") == "[memory]"]
    for event in sorted(wanted, key=lambda e: (float(e["ts"]), -float(e.get("dur", 0)))):
        stack = open_calls[event["tid"]]
        while stack and stack[-1][1] < float(event["ts"]):
            stack.pop()
        if event["name"] != "[memory]":
            stack.append((event["name"], float(event["ts"]) + float(event["dur"])))
        elif event["args"]["Device Type"] == 1:  # CUDA
            given = event["args"]
            rows.append([given["Bytes"], given["Addr"], given.get("Total Allocated"), given.get("Total Reserved"),
                         " ".join(name for name, _ in stack)])
    return rows

#!/usr/bin/env python3
"""Makes records/ of the recorder's whole records: what is saved, which kernels run in which order, and peaks of requested bytes.

    python3 truth/compiled/extract.py RECORDS [CASE ...]
"""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PHASES = ("forward", "backward")
PRODUCTS = ("aten::linear", "aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")


def kernels(lines):
    """Triton's kernels and products of matrices, each by its name, in order."""
    found = []
    for line in lines:
        count, launch = re.fullmatch(r"(?:(\d+) x )?(.*)", line).groups()
        kind, operator, name = launch.split()[:3]
        if name.startswith("triton_"):
            found += [name] * int(count or 1)
        elif kind == "library" and operator in PRODUCTS:
            found += [operator] * int(count or 1)
    return found


def peaks(record):
    """Above what was held when the step began, of bytes that were asked for."""
    held, found = 0, {}
    for phase in PHASES:
        peak = held
        for event in record["memory_events"][phase].split():
            if not event.startswith("S"):
                held += int(event)
                peak = max(peak, held)
        found[phase] = peak
    return found


def extract(record):
    saved = [re.fullmatch(r"(\d+) x (\w+) (\d+) (\w+)\[.*", line).groups() for line in record["saved"]["tensors"]]
    return {
        "torch": record["torch"],
        "saved_bytes": record["saved"]["activation_bytes"],
        "saved": sorted([int(size), dtype, int(count)] for count, kind, size, dtype in saved if kind == "activation"),
        "kernels": {phase: kernels(record["launches"][phase]) for phase in PHASES},
        "requested_peak": peaks(record),
        "peak": {phase: record["step"][phase]["peak"] for phase in PHASES},
        "requested": {phase: record["step"][phase]["requested_peak"] for phase in PHASES},
        "peak_reserved": record["peak_reserved_bytes"],
        "peak_reserved_clean": record.get("peak_reserved_clean_bytes"),
    }


def main():
    folder, cases = pathlib.Path(sys.argv[1]), sys.argv[2:]
    (HERE / "records").mkdir(exist_ok=True)
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text())
        if "failed" in record or (cases and path.stem not in cases):
            continue
        (HERE / "records" / path.name).write_text(json.dumps(extract(record), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Prints the two tables of docs/evaluation/accuracy.md about whole steps, as Markdown.

Usage: table.py SYMPROF_BINARY [--write]      (--write puts them into docs/evaluation/accuracy.md)
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parent.parent / "docs/evaluation/accuracy.md"
BEGIN, END = "<!-- tables of steps/table.py -->\n", "<!-- end of the tables of steps/table.py -->\n"


def totals(binary, file, truth, record):
    command = [binary, "profile", str(file), "--format", "json", "--quiet"]
    command += ["--optimizer", record["optimizer"]]
    command += ["--lifetimes", "last-use"] if record.get("program") == "exported" else []
    command += ["--autocast", "bf16"] if record["dtype"] == "autocast" else []
    command += ["--attention", truth["attention"]] if "attention" in truth else []
    for pattern in truth["checkpoint"] if record["checkpoint"] else ():
        command += ["--checkpoint", pattern]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["totals"]


def number(value):
    return f"{value:,}".replace(",", " ")


def of_steps(binary):
    lines = "| model | steps | sums made in place | MemTracker's excess, at most | exported: equal | module: equal | module: difference |\n"
    lines += "| --- " + "| ---: " * 6 + "|\n"
    for model, truth in json.loads((HERE / "steps.json").read_text()).items():
        records = truth["records"]
        excess = max(r["memtracker_bytes"] - r["eager_bytes"] for r in records)
        differences = {"exported": [], "module": []}
        for r in records:
            ours = totals(binary, HERE / f"{model}.pt2", truth, r)["peak_tensor_bytes"]
            differences[r["program"]].append(ours - r["eager_bytes"])
        equal = {kind: f"{found.count(0)} of {len(found)}" for kind, found in differences.items()}
        others = sorted({d for d in differences["module"] if d})
        lines += f"| {model} | {len(records)} | {max(r['sums_in_place'] for r in records)} | {number(excess)} "
        lines += f"| {equal['exported']} | {equal['module']} | {', '.join(map(number, others))} |\n"
    return lines


def percent(ours, theirs):
    return f"{100 * (ours / theirs - 1):+.2f} %"


def of_allocator(binary):
    lines = "| model | dtype | checkpointing | optimizer | allocated | PyTorch | | reserved | PyTorch | |\n"
    lines += "| --- | --- | --- | --- | " + "---: | " * 6 + "\n"
    for model, truth in json.loads((HERE / "allocator.json").read_text()).items():
        for r in truth["records"]:
            found = totals(binary, HERE / "full" / f"{model}.pt2", truth, r)
            cells = [model, r["dtype"], "blocks" if r["checkpoint"] else "", r["optimizer"]]
            for field in ("peak_allocated_bytes", "peak_reserved_bytes"):
                cells += [number(found[field]), number(r[field]), percent(found[field], r[field])]
            lines += "| " + " | ".join(cells) + " |\n"
    return lines


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    text = f"{of_steps(sys.argv[1])}\nOn the allocator:\n\n{of_allocator(sys.argv[1])}"
    if "--write" not in sys.argv:
        print(text, end="")
        return
    before, rest = DOCUMENT.read_text().split(BEGIN)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()

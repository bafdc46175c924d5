#!/usr/bin/env python3
"""Compares what run.py wrote for both sides, and writes scripts.json and the table of docs/evaluation/scripts.md.

Usage: compare.py FOLDER [--write]

Without --write each script has a line: the steps whose four figures are equal, and the differences of the others.
"""
import json
import pathlib
import sys

import catalog

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = ("peak_allocated", "peak_reserved", "allocated", "reserved")


def steps(folder, side, name):
    path = folder / side / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def differences(ours, theirs):
    """By step: figure -> ours less theirs, where they are not equal."""
    return [{key: a[key] - b[key] for key in FIGURES if a[key] != b[key]} for a, b in zip(ours, theirs, strict=False)]


def command_of(name):
    script = catalog.every()[name]
    return f"{script.script} {script.arguments}".strip()


def record(folder, name, before):
    """What is kept: the source, the command, and what both sides said of each step. What did not run keeps its record."""
    if name in before and not steps(folder, "ours", name):
        return before[name]
    script = catalog.every()[name]
    source = catalog.SOURCES.get(script.source)
    kept = {"repository": source.repository, "commit": source.commit, "folder": script.folder} if source else {}
    return {**kept, "command": command_of(name), "ranks": script.ranks, "cuda": steps(folder, "cuda", name), "ours": steps(folder, "ours", name)}


HEAD = """# Training scripts of other projects

Each script below is as its project has it; only its data are small and random (`truth/scripts/data.py`). It ran twice:
under `symprof run`, and in PyTorch's own CUDA build on a stub CUDA driver (`truth/scripts/README.md`), whose
caching allocator is the real one. As that has no cuDNN, the simulated H200 is one of whose cuDNN's workspaces nothing is
known (`truth/scripts/device.py`). After each optimizer step both said what is allocated and reserved now, and the peaks
since the step before. The table has the last step; *equal* counts the steps of which all four figures are equal.

| script | steps | equal | peak allocated | reserved | difference |
| --- | --- | --- | --- | --- | --- |
"""


def mebibytes(count):
    return f"{count / 2**20:,.2f} MiB"


def row(name, kept, causes):
    ours, theirs = kept["ours"], kept["cuda"]
    found = differences(ours, theirs)
    equal = sum(not step for step in found)
    if not ours or not theirs:
        return f"| {name} | {len(ours)} | – | – | – | {causes.get(name, '')} |\n"
    end = min(len(ours), len(theirs)) - 1
    last = {key: ours[end][key] - theirs[end][key] for key in ("peak_allocated", "peak_reserved")}
    parts = [f"{mebibytes(ours[end][key])}" + (f" ({last[key]:+,} bytes)" if last[key] else "") for key in last]
    cause = "" if equal == len(theirs) == len(ours) else causes.get(name, "NO CAUSE")
    return f"| {name} | {len(theirs)} | {equal} | {parts[0]} | {parts[1]} | {cause} |\n"


COMPILED = """
## Scripts that compile

What these scripts give to torch.compile is compiled on both sides. The table has the last step. *Requested* is the peak of bytes that
were asked for; blocks are rounded and cut differently where autotuning of Triton's kernels has left blocks in the allocator's cache,
which the stub driver's first step did. The stub driver cannot run three of the scripts.

| script | steps | requested | peak allocated | reserved | what differs |
| --- | --- | --- | --- | --- | --- |
"""


def compiled_row(name, kept, causes):
    ours, theirs = kept["ours"], kept["cuda"]
    parts = []
    for key in ("peak_requested", "peak_allocated", "peak_reserved"):
        text = mebibytes(ours[-1][key])
        if theirs and theirs[-1][key] != ours[-1][key]:
            off = ours[-1][key] - theirs[-1][key]
            text += f" ({off:+,} bytes)" if key == "peak_requested" else f" ({100 * off / theirs[-1][key]:+.2f} %)"
        parts.append(text)
    return f"| {name} | {len(ours)} | {parts[0]} | {parts[1]} | {parts[2]} | {causes.get(name, '' if theirs else 'not run on the stub driver')} |\n"


def write_records(folder, file, names):
    path = HERE / file
    before = json.loads(path.read_text()) if path.exists() else {}
    found = {name: record(folder, name, before) for name in names}
    path.write_text(json.dumps(found, indent=1) + "\n")
    return found


def write(folder):
    causes = json.loads((HERE / "causes.json").read_text())
    found = write_records(folder, "scripts.json", catalog.SCRIPTS)
    own = write_records(folder, "own.json", catalog.OWN)
    compiled = write_records(folder, "compiled.json", catalog.COMPILED)
    rows = "".join(row(name, kept, causes) for name, kept in {**found, **own}.items())
    rows += COMPILED + "".join(compiled_row(name, kept, causes) for name, kept in compiled.items())
    public = {name: kept for name, kept in {**found, **compiled}.items() if "repository" in kept}
    sources = "".join(f"- {name}: `{kept['repository']}` at `{kept['commit'][:12]}`, `{kept['command']}`\n" for name, kept in public.items())
    foot = "\nCommands, with `{data}` for the data and `{out}` for a folder:\n\n" + sources
    (HERE.parent.parent / "docs/evaluation/scripts.md").write_text(HEAD + rows + foot)


def main():
    folder = pathlib.Path(sys.argv[1])
    if sys.argv[2:] == ["--write"]:
        return write(folder)
    for name, script in catalog.every().items():
        ours, theirs = steps(folder, "ours", name), steps(folder, "cuda", name)
        found = differences(ours, theirs)
        equal = sum(not step for step in found)
        print(f"{name}: ours {len(ours)}, theirs {len(theirs)} of {script.steps}; {equal} equal", *[d for d in found if d], sep="\n    ")


if __name__ == "__main__":
    main()

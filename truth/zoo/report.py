#!/usr/bin/env python3
"""Profiles the files that run.py made and compares them with what PyTorch said.

Usage: report.py FOLDER SYMPROF_BINARY [--table docs/evaluation/models.md] [--install tests/zoo/models]

--table writes the table of all models and formats; --install puts the .pt2 files and PyTorch's
figures where the tests look for them. A difference without a line in causes.json is called
unexplained, and the command fails.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FORMATS = ("pt2", "onnx", "pt")
COMPARED = {"fwd_flops": "forward FLOPs", "bwd_flops": "backward FLOPs", "saved_bytes": "saved"}
# The layout of weights and buffers is the exporter's; these are compared for .pt2 only.
OF_THE_PROGRAM = {"param_bytes": "parameters", "buffer_bytes": "buffers", "input_bytes": "inputs"}
INSTALLED = ("param_count", *COMPARED, *OF_THE_PROGRAM)


def read(folder, name, stage):
    path = folder / f"{name}.{stage}.json"
    return json.loads(path.read_text()) if path.exists() else None


def names(folder):
    return sorted({path.name.split(".")[0] for path in folder.glob("*.truth.json")})


def profile(binary, path):
    """(totals, None), or (None, the first line of the error)."""
    command = [binary, "profile", str(path), "--mode", "train", "--format", "json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[0].replace(str(path.parent) + "/", "")
    found = json.loads(done.stdout)
    if found["coverage"]["unmodelled"]:
        return None, "calls without a rule: " + ", ".join(found["coverage"]["unmodelled_ops"])
    return found["totals"], None


def differences(file_format, ours, theirs):
    figures = {**COMPARED, **(OF_THE_PROGRAM if file_format == "pt2" else {})}
    return {f: ours[f] - theirs[f] for f in figures if ours[f] != theirs[f]}


def cause_of(causes, name, file_format, figure):
    """The text of the first line that fits."""
    for cause in causes:
        fits = [fnmatch.fnmatch(value, pattern) for value, pattern in
                ((name, cause["model"]), (file_format, cause["format"]), (figure, cause["figure"]))]
        if all(fits):
            return cause["cause"]
    return None


class Cells:
    """Texts of the table; `used` are the causes that some cell refers to."""

    def __init__(self, causes):
        self.causes = causes
        self.used = []
        self.unexplained = []
        self.failures = []
        self.counts = {f: dict(made=0, equal=0, explained=0) for f in FORMATS}

    def reference(self, cause):
        if cause not in self.used:
            self.used.append(cause)
        return f"[{self.used.index(cause) + 1}]"

    def difference(self, name, file_format, figure, difference):
        cause = cause_of(self.causes, name, file_format, figure)
        word = {**COMPARED, **OF_THE_PROGRAM}[figure]
        text = f"{word} {difference:+,}".replace(",", " ")
        if cause is None:
            self.unexplained.append(f"{name}.{file_format}: {text}")
            return f"{text} (unexplained)"
        return f"{text} {self.reference(cause)}"

    def refusal(self, name, file_format, message):
        text = f"`{name}.{file_format}`: {message}"
        if text not in self.failures:
            self.failures.append(text)
        return "not exported"

    def cell(self, result):
        name, file_format = result["name"], result["format"]
        if result["made"] is None:
            return "not tried"
        if "failed" in result["made"]:
            return self.refusal(name, file_format, result["made"]["failed"])
        self.counts[file_format]["made"] += 1
        if result["error"]:
            self.unexplained.append(f"{name}.{file_format}: {result['error']}")
            return result["error"]
        if "failed" in result["truth"]:
            return "profiled; PyTorch's figures: " + result["truth"]["failed"]
        found = differences(file_format, result["totals"], result["truth"])
        if not found:
            self.counts[file_format]["equal"] += 1
            return "equal"
        self.counts[file_format]["explained"] += 1
        return "; ".join(self.difference(name, file_format, *item) for item in found.items())


def truth_for(folder, name, file_format):
    """A trace is of the eager module, whose figures are there where they differ."""
    module = read(folder, name, "module") if file_format == "pt" else None
    return module if module and "failed" not in module else read(folder, name, "truth")


def results(folder, binary):
    def one(pair):
        name, file_format = pair
        made = read(folder, name, file_format)
        path = folder / f"{name}.{file_format}"
        totals, error = profile(binary, path) if made and path.exists() else (None, None)
        return {"name": name, "format": file_format, "made": made, "totals": totals,
                "error": error, "truth": truth_for(folder, name, file_format)}

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pairs = [(name, f) for name in names(folder) for f in FORMATS]
        return list(pool.map(one, pairs))


def described():
    """{name: (family, source)}, from a process of its own that imports the builders."""
    code = ("import json, zoo, architectures as a;"
            "print(json.dumps({n: [m.family, m.source] for n, m in a.ARCHITECTURES.items()}))")
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE.parent.parent / "models",
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def rows(found, cells):
    about = described()
    by_name = {}
    for result in found:
        by_name.setdefault(result["name"], []).append(result)
    for name in about:  # in the order of the builders
        if name not in by_name:
            continue
        family, source = about[name]
        truth = by_name[name][0]["truth"]
        parameters = f"{truth.get('param_count', 0):,}".replace(",", " ") if truth else ""
        texts = [cells.cell(result) for result in by_name[name]]
        yield "| " + " | ".join([f"`{name}`", family, source, parameters, *texts]) + " |\n"


def summary(cells, count):
    lines = [f"{count} models. A file is counted as equal when forward FLOPs, backward FLOPs and "
             "saved bytes are PyTorch's to the last digit (and parameters, buffers and inputs, for "
             "`.pt2`).\n\n",
             "| format | files | equal | differ, cause below |\n| --- | ---: | ---: | ---: |\n"]
    for file_format, n in cells.counts.items():
        lines.append(f"| `.{file_format}` | {n['made']} | {n['equal']} | {n['explained']} |\n")
    return "".join(lines)


def document(folder, found, cells):
    made = list(rows(found, cells))
    versions = next(r["truth"]["versions"] for r in found if "versions" in r["truth"])
    text = (HERE / "models_head.md").read_text()
    text += ", ".join(f"{name} {version}" for name, version in versions.items()) + ".\n\n"
    text += summary(cells, len(made)) + "\n"
    text += "| model | family | made by | parameters | `.pt2` | `.onnx` | `.pt` |\n"
    text += "| --- | --- | --- | ---: | --- | --- | --- |\n" + "".join(made)
    text += "\n## Causes\n\n"
    for number, cause in enumerate(cells.used, 1):
        text += f"{number}. {cause}\n"
    text += "\n## What PyTorch does not export\n\n"
    return text + "".join(f"- {line}\n" for line in cells.failures)


def install(found, folder, target, causes):
    """What the tests need: the file, and PyTorch's figures of the exported program.

    Not those whose difference is an open question, nor those where PyTorch's fake tensors are
    laid out unlike its tensors with memory.
    """
    target.mkdir(exist_ok=True)
    left_out = {cause["model"] for cause in causes
                if (cause.get("open") or cause.get("fake_only"))
                and fnmatch.fnmatch("pt2", cause["format"])}
    for result in found:
        if result["format"] != "pt2" or result["totals"] is None or "failed" in result["truth"]:
            continue
        if result["name"] in left_out:
            continue
        name, truth = result["name"], result["truth"]
        shutil.copyfile(folder / f"{name}.pt2", target / f"{name}.pt2")
        figures = {figure: truth[figure] for figure in INSTALLED}
        kept = {"torch": truth["versions"]["torch"], "mode": "train", **figures}
        (target / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("binary")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--install", type=pathlib.Path)
    args = parser.parse_args()
    found = results(args.folder, args.binary)
    cells = Cells(json.loads((HERE / "causes.json").read_text()))
    text = document(args.folder, found, cells)
    if args.table:
        args.table.write_text(text)
    else:
        print(text)
    if args.install:
        install(found, args.folder, args.install, cells.causes)
    if cells.unexplained:
        sys.exit("\n".join(["unexplained:", *cells.unexplained]))


if __name__ == "__main__":
    main()

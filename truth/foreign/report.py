#!/usr/bin/env python3
"""Profiles the files that run.py made and compares each with what PyTorch said.

Usage: report.py FOLDER SYMPROF_BINARY [--models NAME,…] [--formats pt2,onnx,pt,pt_python] [--python-sources FOLDER]
                 [--held-out | --later] [--json FILE] [--table FILE] [--install FOLDER]

pt_python is the trace with `--python-sources`: FOLDER, which may be given several times, has the packages.

--held-out takes the models of held_out.py, --later those of held_out_later.py, which are left out else: they have pages
of their own.

--json keeps all figures, and what is there already is not profiled again: leave the file out, or remove it, for another
binary. --table writes the tables as Markdown. --install puts the .pt2 files, without weights, and PyTorch's figures where the
tests look for them. A difference without a line in causes.json is called unexplained, and the command fails.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import importlib
import json
import pathlib
import shutil
import sys

from comparison import (CLOSE, EXACT, OPTIONS, TRAINING, compared, differences, is_close, is_close_to_program, is_said_about, is_said_low,
                        label_of, note_of, relative, same, suffix_of)

HERE = pathlib.Path(__file__).resolve().parent
FORMATS = ("pt2", "onnx", "pt", "pt_python")
LARGEST = 25_000  # bytes of a file that is installed


def cause_of(causes, name, file_format, step, figure, whose):
    wanted = {"model": name, "format": file_format, "step": step, "figure": figure, "whose": whose}
    for cause in causes:
        if all(fnmatch.fnmatch(value, pattern) for key, value in wanted.items()
               for pattern in [cause.get(key, "*")]):
            return cause["cause"]
    return None


def other_calls(ours, module):
    """The operators that a file calls more often than the module's export does, and less often; at most three each."""
    more, less = (collections.Counter(ours["forward"]), collections.Counter(module["forward"]))
    texts = []
    for sign, difference in (("+", more - less), ("−", less - more)):
        texts += [f"{sign}{count} `{op.removeprefix('aten::')}`" for op, count in difference.most_common(3)]
    return ", ".join(texts)


def cause_in_onnx(cell, module, figure, step):
    """What of an ONNX file's difference follows from the .pt2 file of the same model; None if nothing does."""
    ours = cell["ours"]
    if figure == "error" or module is None or "forward" not in module:
        return None
    missing = module["weights_bytes"] - ours["weights_bytes"]
    peak = cell["theirs"].get("peak_bytes")
    slack = CLOSE[step] * (peak or 0)
    gradients = missing if step != "inference" else 0
    if figure == "peak_bytes" and missing and -slack <= (peak - ours["peak_bytes"] - missing) <= max(gradients, 0) + slack:
        return ("The file has other weights than the module: buffers that nothing reads in it (`num_batches_tracked`), "
                "parameters that nothing uses or that were equal and merged, and tables that the exporter has computed; 512 bytes "
                "each at least, and in training as much for a gradient.")
    calls = other_calls(ours, module)
    return f"ONNX has other operators than PyTorch, so the file makes other calls: {calls}." if calls else None


class Report:
    def __init__(self, causes, results):
        self.causes, self.results, self.used, self.unexplained = causes, results, [], []
        self.margins = []  # of the peaks that are said to be too low: what is missing, and what is said of it
        counts = ("cells", "loaded", "measured", "exact", "of_program", "different", "close", "close_to_program", "said_low", "said_about", "said")
        self.count = {f: {s: dict.fromkeys(counts, 0) for s in OPTIONS} for f in FORMATS}

    def number(self, name, file_format, step, figure, text, whose="module"):
        cause = cause_of(self.causes, name, file_format, step, figure, whose)
        if cause is None:
            self.unexplained.append(f"{name}.{label_of(file_format)} {step}: {text}")
            return "[?]"
        return self.number_of(cause)

    def number_of(self, cause):
        if cause not in self.used:
            self.used.append(cause)
        return f"[{self.used.index(cause) + 1}]"

    def cell(self, name, file_format, step, cell):
        count = self.count[file_format][step]
        if "error" in cell["ours"] and "failed" in cell["theirs"]:
            return f"PyTorch: {cell['theirs']['failed']}"
        count["cells"] += 1
        if "error" in cell["ours"]:
            return f"{cell['ours']['error']} {self.number(name, file_format, step, 'error', cell['ours']['error'])}"
        count["loaded"] += 1
        if "failed" in cell["theirs"]:
            return "loads"
        found = differences(cell, step)
        count["measured"] += 1
        is_exact = not set(found) & set(EXACT)
        if is_exact and cell["whose"] == "program":
            found["program"] = "its program"
        count["different"] += not is_exact
        count["of_program"] += "program" in found
        count["exact"] += is_exact and "program" not in found
        self.count_peak(count, cell, step)
        return "; ".join(f"{text} {self.why(name, file_format, step, figure, text, cell)}"
                         for figure, text in found.items()) or "="

    def count_peak(self, count, cell, step):
        count["close"] += is_close(cell, step)
        count["close_to_program"] += not is_close(cell, step) and is_close_to_program(cell, step)
        count["said"] += not is_close_to_program(cell, step) and (is_said_low(cell, step) or is_said_about(cell, step))
        if is_said_low(cell, step):
            count["said_low"] += 1
            ours = cell["ours"]
            missing = cell["theirs"]["peak_bytes"] - ours["peak_bytes"]
            self.margins.append((missing <= ours["doubt_bytes"], missing <= ours["most_bytes"]))

        count["said_about"] += is_said_about(cell, step)

    def kind_of_peak(self, name, file_format, step, cell):
        if is_close(cell, step, "program_peak_bytes"):
            return "its program's" + (", with which alone it can be compared" if relative(cell) is None else "")
        if is_close_to_program(cell, step):
            return "its program's with `--lifetimes last-use`, as PyTorch ran that"
        said = "said: at least; " if is_said_low(cell, step) else "said: about; " if is_said_about(cell, step) else ""
        return said + self.why(name, file_format, step, "peak_bytes", "peak", cell)

    def why(self, name, file_format, step, figure, text, cell):
        """The number of the cause; a peak that is said to be a lower bound says its own."""
        cause = cause_of(self.causes, name, file_format, step, figure, cell["whose"])
        if cause is None and figure == "peak_bytes" and is_said_low(cell, step):
            return self.number_of("The file does not tell, and the report says so: " + cell["ours"]["because"] + ".")
        if cause is None and figure == "peak_bytes" and is_said_about(cell, step) and file_format != "onnx":
            return self.number_of("The peak is that of the file's calls, and the report says so: " +
                                  cell["ours"]["about_because"] + ".")
        if cause is None and file_format == "onnx":
            module = self.results[name].get("pt2", {}).get(step, {}).get("ours")
            if found := cause_in_onnx(cell, module, figure, step):
                return self.number_of(found)
        return self.number(name, file_format, step, figure, text, cell["whose"])

    def row(self, name, file_format, result):
        if "not_exported" in result:
            return None
        cells = [self.cell(name, file_format, step, result[step]) for step in OPTIONS]
        return f"| `{name}.{suffix_of(file_format)}`{note_of(file_format)} | " + " | ".join(cells) + " |\n"

    def summary(self):
        lines = ["| files | setting | files | loaded | compared | FLOPs and saved bytes equal | equal to the file's "
                 "program, which is another | different | peak close | close to the program's alone | too low, and said: at least | "
                 "otherwise off, and said: about |\n",
                 "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"]
        for file_format, steps in self.count.items():
            for step, n in steps.items():
                exact = " | | " if step == "inference" else f"{n['exact']} | {n['of_program']} | {n['different']}"
                of_program = "" if step == "inference" else n["close_to_program"]
                lines.append(f"| `.{suffix_of(file_format)}`{note_of(file_format)} | {step} | {n['cells']} | {n['loaded']} | {n['measured']} | {exact} | "
                             f"{n['close']} | {of_program} | {n['said_low']} | {n['said_about']} |\n")
        if self.margins:
            likely, most = (sum(column) for column in zip(*self.margins))
            lines.append(f"\nOf the {len(self.margins)} peaks that are said to be lower bounds and are too low, {likely} lack no "
                         f"more than the report says (`peak_doubt_bytes`), and {most} no more than the bound beside it "
                         "(`peak_doubt_most_bytes`).\n")
        return "".join(lines)


def percent_of(counts, names, of):
    total = sum(count[of] for count in counts)
    found = sum(count[name] for count in counts for name in names)
    return f"{found} of {total} ({100 * found / total:.1f} %)" if total else "none"


def sums(report):
    """How much holds, format by format."""
    lines = ["| files | FLOPs and saved bytes equal, fp32 | bf16 | autocast | peaks in training within 0.5 % | or said | "
             "peaks in inference within 5 % | or said to be at least, or about |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"]
    for file_format, steps in report.count.items():
        training, inference = [steps[step] for step in TRAINING], [steps["inference"]]
        exact = [percent_of([count], ("exact", "of_program"), "measured") for count in training]
        cells = [*exact, percent_of(training, ("close", "close_to_program"), "measured"),
                 percent_of(training, ("close", "close_to_program", "said"), "measured"),
                 percent_of(inference, ("close",), "measured"), percent_of(inference, ("close", "said_low", "said_about"), "measured")]
        lines.append(f"| `.{suffix_of(file_format)}`{note_of(file_format)} | " + " | ".join(cells) + " |\n")
    return "\nIn short, where a figure may be the module's or that of the file's program:\n\n" + "".join(lines)


def document(results, report, models, head):
    rows = [row for name, formats in results.items() for file_format, result in formats.items()
            for row in [report.row(name, file_format, result)] if row]
    text = (HERE / head).read_text() + report.summary() + sums(report) + "\n| file | " + " | ".join(OPTIONS) + " |\n| --- | --- | --- | --- | --- |\n"
    peaks = training_peaks(results, report)
    text += "".join(rows) + "\n## Causes\n\n"
    text += "".join(f"{number}. {cause}\n" for number, cause in enumerate(report.used, 1))
    text += "\n## Peaks in training that are not the module's\n\n" + peaks
    text += "\n## What PyTorch does not export\n\n"
    text += "".join(f"- `{name}.{file_format}`: {result['not_exported']}\n"
                    for name, formats in results.items() for file_format, result in formats.items()
                    if "not_exported" in result and file_format == suffix_of(file_format))
    text += "\n## The models\n\n| model | package | kind |\n| --- | --- | --- |\n"
    return text + "".join(f"| `{name}` | {package} | {kind} |\n" for name, (package, kind) in models.items())


def training_peaks(results, report):
    """A table of the peaks in training that are not the module's, whether or not they are the program's."""
    lines = ["| file | setting | beside the module's | beside its program's | what it is |\n| --- | --- | ---: | ---: | --- |\n"]
    percent = lambda found: "" if found is None else f"{100 * found:+.1f} %"
    for name, formats in results.items():
        for file_format in ("pt2", "pt", "pt_python"):
            result = formats.get(file_format, {"not_exported": "not tried"})
            for step in () if "not_exported" in result else TRAINING:
                cell = result[step]
                if "error" in cell["ours"] or "failed" in cell["theirs"] or is_close(cell, step):
                    continue
                lines.append(f"| `{name}.{suffix_of(file_format)}`{note_of(file_format)} | {step} | {percent(relative(cell))} | "
                             f"{percent(relative(cell, 'program_peak_bytes'))} | "
                             f"{report.kind_of_peak(name, file_format, step, cell)} |\n")
    return "".join(lines)


def held_peak(cell, step):
    """{"peak_bytes": PyTorch's} where ours is close: the module's, or else that of the file's program."""
    for whose in ("peak_bytes", "program_peak_bytes"):
        if is_close(cell, step, whose):
            return {"peak_bytes": cell["theirs"][whose]}
    return {}


def install(results, folder, target):
    """Files whose FLOPs and saved bytes are PyTorch's in a setting, with those figures, and the peaks that are close."""
    target.mkdir(parents=True, exist_ok=True)
    for name, formats in results.items():
        result = formats.get("pt2", {"not_exported": "not tried"})
        if "not_exported" in result or result["bytes"] > LARGEST:
            continue
        kept = {step: {**{figure: result[step]["theirs"][figure] for figure in EXACT}, **held_peak(result[step], step)}
                for step in TRAINING
                if "error" not in result[step]["ours"] and "failed" not in result[step]["theirs"]
                and same(result[step]["ours"], result[step]["theirs"])}
        if kept:
            shutil.copyfile(folder / f"{name}.pt2", target / f"{name}.pt2")
            (target / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")


HEADS = {None: "head.md", "held_out": "held_out_head.md", "held_out_later": "held_out_later_head.md"}


def described(page):
    """The models of a page: of a module that has one of its own, or of all the others."""
    sys.path.insert(0, str(HERE))
    import catalog

    page_of = {name: module for module in filter(None, HEADS) for name in importlib.import_module(module).MODELS}
    return {name: (model.package, model.kind) for name, model in catalog.all_models().items() if page_of.get(name) == page}


def compare_all(args, names, results):
    """Fills `results`, and keeps them after each file."""
    pairs = [(name, file_format) for file_format in args.formats.split(",") for name in names]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda pair: compared(args.folder, args.binary, *pair,
                                               results.get(pair[0], {}).get(pair[1], {}), args.python_sources), pairs)
        for (name, file_format), result in zip(pairs, found):
            results.setdefault(name, {})[file_format] = result
            if args.json:
                args.json.write_text(json.dumps(results, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("binary")
    parser.add_argument("--models")
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--python-sources", action="append", default=[])
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--install", type=pathlib.Path)
    parser.add_argument("--held-out", dest="page", action="store_const", const="held_out")
    parser.add_argument("--later", dest="page", action="store_const", const="held_out_later")
    args = parser.parse_args()
    models = described(args.page)
    results = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    compare_all(args, args.models.split(",") if args.models else list(models), results)
    results = {name: results[name] for name in models if name in results}
    report = Report(json.loads((HERE / "causes.json").read_text()), results)
    text = document(results, report, {name: models[name] for name in results},
                    HEADS[args.page])
    if args.table:
        args.table.write_text(text)
    else:
        print(text)
    if args.install:
        install(results, args.folder, args.install)
    if report.unexplained:
        sys.exit("\n".join(["unexplained:", *report.unexplained]))


if __name__ == "__main__":
    main()

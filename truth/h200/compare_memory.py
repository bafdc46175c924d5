#!/usr/bin/env python3
"""Compares what symprof says of a training step's memory with what an H200 took, case by case.

usage: compare_memory.py SYMPROF [--only REGEX] [--check]

Each case of data/ is profiled from the exported program of its model (data/: export-...), with the case's dtype, step
and checkpoints ("file"). run_rows.json has what the same program says that runs on the simulated device ("program",
run_memory.py). Both stand beside the peaks of `max_memory_allocated` and `max_memory_reserved`."""
import argparse
import concurrent.futures
import csv
import functools
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# The dtype of the program, and how it is profiled.
DTYPES = {"fp32": ("fp32", []), "autocast": ("fp32", ["--autocast", "bf16"]), "bf16": ("bf16", [])}
STEPS = {"forward": ["--mode", "inference"], "backward": [], "sgd_momentum": ["--optimizer", "sgd_momentum"],
         "adam_single": ["--optimizer", "adam:single"], "adam_foreach": ["--optimizer", "adam:foreach"],
         "adam_fused": ["--optimizer", "adam:fused"]}
# The paths of what record_memory.py checkpoints. EfficientNet's first blocks are of another class.
BLOCKS = re.compile(r"network\.(?:(?:bert\.|model\.|text_model\.|vision_model\.)?(?:en|de)coder\.(?:layers|layer|block)\.\w+"
                    r"|transformer\.h\.\d+|model\.layers\.\d+|layer[1-4]\.\d+|stages\.\d+\.blocks\.\d+|blocks\.[1-9]\.\d+"
                    r"|features\.[1357]\.\d+|(?:down|join)\.\d+|layer$)")
# Steps of several batches are no step of one file.
PROGRAMS_ALONE = ("fragmented",)
VARIANTS = {"expandable": ",expandable_segments:True"}
ALLOCATOR = "torch:2.11"  # Which recorded them.


def records(pattern):
    """(name, record) of each case that came to its end."""
    for archive in sorted((HERE / "data").glob("*.zip")):
        with zipfile.ZipFile(archive) as files:
            for name in files.namelist():
                folder, _, file = name.partition("/")
                if file == "record.json" and folder.startswith("case-") and re.search(pattern, folder):
                    record = json.loads(files.read(name))
                    if record["status"] == "ok":
                        yield folder.removeprefix("case-"), record


def programs(folder):
    """{(model, batch, dtype): path} of the exported programs, written into the folder."""
    found = {}
    for archive in sorted((HERE / "data").glob("*.zip")):
        with zipfile.ZipFile(archive) as files:
            for name in files.namelist():
                match = re.fullmatch(r"export-(.+)-b(\d+)-(\w+)/program.pt2", name)
                if match:
                    files.extract(name, folder)
                    found[match[1], int(match[2]), match[3]] = pathlib.Path(folder) / name
    return found


def profile(symprof, program, options):
    command = [symprof, "profile", str(program), "--device", "h200", "-q", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return done.stdout


@functools.cache
def blocks_of(symprof, program):
    """Paths of the modules that record_memory.py checkpoints."""
    table = profile(symprof, program, ["--by", "module", "--depth", "99", "--format", "csv", "--columns", "op"])
    found = (BLOCKS.match(row["op"]) for row in csv.DictReader(table.splitlines()))
    return sorted({match[0] for match in found if match})


def alloc_conf(variant):
    """The allocator's settings that a variant of a case ran with."""
    return ALLOCATOR + VARIANTS.get(variant, "")


def options_of(symprof, program, case):
    benchmark = [] if case["variant"] == "no_benchmark" else ["--cudnn-benchmark"]
    options = [*benchmark, "--alloc-conf", alloc_conf(case["variant"]), *DTYPES[case["dtype"]][1], *STEPS[case["step"]]]
    if case["checkpoint"]:
        options += [text for path in blocks_of(symprof, program) for text in ("--checkpoint", path)]
    return options


def program_of(case):
    return case["model"], case["batch"], DTYPES[case["dtype"]][0]


def measured(record):
    """Of the whole loop: (allocated, reserved, what the device had in use or None)."""
    phases = record["phases"]
    return (max(phase["max_memory_allocated"] for phase in phases),
            max(phase["max_memory_reserved"] for phase in phases), phases[-1]["device_used_bytes"])


def row(symprof, name, record, program):
    allocated, reserved, _ = measured(record)
    if record["case"]["variant"] in PROGRAMS_ALONE:
        return {"case": name, "allocated": allocated, "reserved": reserved, "file": {}}
    report = json.loads(profile(symprof, program, ["--format", "json", *options_of(symprof, program, record["case"])]))
    return {"case": name, "allocated": allocated, "reserved": reserved,
            "file": {"allocated": report["totals"]["peak_allocated_bytes"],
                     "reserved": report["totals"]["peak_reserved_bytes"]}}


def share(row, what, face):
    """Estimated by measured, less one; None where there is no estimate."""
    estimated = row[face].get(what)
    return None if estimated is None else estimated / row[what] - 1


CONVOLUTIONAL = re.compile("clip|convnext|efficientnet|resnet|swin|unet|vit|whisper")
GROUPS = ("without convolutions", "the same behind other batches", "convolutions", "convolutions, cuDNN's benchmark on",
          "LSTM of cuDNN")


def group_of(name):
    if name.startswith("lstm"):
        return GROUPS[4]
    if not CONVOLUTIONAL.match(name):
        return GROUPS[1 if name.endswith("fragmented") else 0]
    return GROUPS[2 if name.endswith("no_benchmark") else 3]


def summary(rows):
    """A line for each group, face and figure."""
    for group in GROUPS:
        for face in ("file", "program"):
            for what in ("allocated", "reserved"):
                errors = [abs(one) for row in rows if group_of(row["case"]) == group
                          and (one := share(row, what, face)) is not None]
                if errors:
                    counts = [sum(error <= limit for error in errors) for limit in (0, 0.005, 0.03)]
                    yield [group, face, what, len(errors), f"{statistics.median(errors):.2%}", f"{max(errors):.2%}", *counts]


def complaints(rows):
    """Cases beyond 3 % without a cause, beyond the cause's bounds, and causes without a case."""
    causes = json.loads((HERE / "memory_causes.json").read_text())
    used = set()
    for row in rows:
        for face in ("file", "program"):
            for what in ("allocated", "reserved"):
                error = share(row, what, face)
                if error is None or abs(error) <= LARGEST:
                    continue
                found = [n for n, cause in enumerate(causes) if re.search(cause["cases"], row["case"])
                         and cause.get("face", face) == face
                         and cause["percent"][0] <= 100 * error <= cause["percent"][1]]
                used.update(found)
                if not found:
                    yield f"{row['case']}: {what} of the {face} is off by {error:+.2%}: expected a cause in memory_causes.json"
    yield from (f"memory_causes.json: no case has {cause['cases']!r}" for n, cause in enumerate(causes) if n not in used)
    for line in summary(rows):
        wanted = MEDIANS.get(line[0], MEDIAN)
        if float(line[4].rstrip("%")) > 100 * wanted:
            yield f"{line[0]}, {line[1]}, {line[2]}: the median is {line[4]}, at most {wanted:.1%} is wanted"


LARGEST, MEDIAN = 0.03, 0.005
MEDIANS = {GROUPS[3]: 0.006, GROUPS[4]: 0.036}


def print_rows(rows):
    print(f"{'case':62} {'allocated':>15} {'file':>9} {'program':>9} {'reserved':>15} {'file':>9} {'program':>9}")
    for row in rows:
        texts = [f"{row['case']:62}"]
        for what in ("allocated", "reserved"):
            texts.append(f"{row[what]:15,}")
            for face in ("file", "program"):
                error = share(row, what, face)
                texts.append(f"{'' if error is None else format(error, '+.3%'):>9}")
        print(" ".join(texts))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("symprof")
    parser.add_argument("--only", default="(base|no_benchmark|expandable|fragmented)$", help="cases whose name this regular expression finds")
    parser.add_argument("--check", action="store_true", help="fail where a case is off by more than its cause explains")
    options = parser.parse_args()
    programs_run = json.loads((HERE / "run_rows.json").read_text())
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        files = programs(folder)
        waiting = [pool.submit(row, options.symprof, name, record, files[program_of(record["case"])])
                   for name, record in records(options.only)]
        rows = [{**one.result(), "program": programs_run.get(one.result()["case"], {})} for one in waiting]
    print_rows(rows)
    print("\n| models | estimated of | peak | cases | median | worst | equal | ≤ 0.5 % | ≤ 3 % |\n"
          "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for line in summary(rows):
        print("| " + " | ".join(map(str, line)) + " |")
    found = list(complaints(rows)) if options.check else []
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

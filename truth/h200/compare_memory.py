#!/usr/bin/env python3
"""Compares what symprof says of a training step's memory with what an H200 took, case by case.

usage: compare_memory.py SYMPROF [--only REGEX] [--rows FILE.json]

Each case of data/ is profiled from the exported program of its model (data/: export-...), with the case's dtype, step
and checkpoints, and its peaks stand beside those of `max_memory_allocated` and `max_memory_reserved`."""
import argparse
import concurrent.futures
import csv
import functools
import json
import pathlib
import re
import statistics
import subprocess
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# The dtype of the program, and how it is profiled.
DTYPES = {"fp32": ("fp32", []), "autocast": ("fp32", ["--autocast", "bf16"]), "bf16": ("bf16", [])}
STEPS = {"forward": ["--mode", "inference"], "backward": [], "sgd_momentum": ["--optimizer", "sgd_momentum"],
         "adam_single": ["--optimizer", "adam:single"], "adam_foreach": ["--optimizer", "adam:foreach"],
         "adam_fused": ["--optimizer", "adam:fused"]}
# The paths of what record_memory.py checkpoints.
BLOCKS = re.compile(r"network\.(?:(?:bert\.|model\.|text_model\.|vision_model\.)?(?:en|de)coder\.(?:layers|layer|block)\.\w+"
                    r"|transformer\.h\.\d+|model\.layers\.\d+|layer[1-4]\.\d+|stages\.\d+\.blocks\.\d+|blocks\.\d+\.\d+"
                    r"|features\.[1357]\.\d+|(?:down|join)\.\d+|layer$)")
VARIANTS = {"expandable": ["--alloc-conf", "expandable_segments:True"]}


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


def options_of(symprof, program, case):
    options = [*DTYPES[case["dtype"]][1], *STEPS[case["step"]], *VARIANTS.get(case["variant"], [])]
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
    allocated, reserved, used = measured(record)
    result = {"case": name, "allocated": allocated, "reserved": reserved, "device_used": used}
    try:
        report = json.loads(profile(symprof, program, ["--format", "json", *options_of(symprof, program, record["case"])]))
    except ValueError as error:
        return {**result, "error": str(error)}
    totals = report["totals"]
    return {**result, "estimated_allocated": totals["peak_allocated_bytes"],
            "estimated_reserved": totals["peak_reserved_bytes"], "at_peak": report["memory"]["at_peak"]}


def share(row, what):
    return row[f"estimated_{what}"] / row[what] - 1


def print_table(rows):
    print(f"{'case':60} {'allocated':>15} {'symprof':>9} {'reserved':>15} {'symprof':>9}")
    for one in rows:
        if "error" in one:
            print(f"{one['case']:60} {one['error']}")
            continue
        print(f"{one['case']:60} {one['allocated']:15,} {share(one, 'allocated'):+9.3%} {one['reserved']:15,} "
              f"{share(one, 'reserved'):+9.3%}")
    for what in ("allocated", "reserved"):
        errors = [abs(share(one, what)) for one in rows if "error" not in one]
        within = {limit: sum(error <= limit for error in errors) for limit in (0, 0.005, 0.03)}
        print(f"{what}: {len(errors)} cases, median {statistics.median(errors):.3%}, worst {max(errors):.2%}, equal {within[0]}, "
              f"within 0.5 % {within[0.005]}, within 3 % {within[0.03]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("symprof")
    parser.add_argument("--only", default="", help="cases whose name this regular expression finds")
    parser.add_argument("--rows", type=pathlib.Path, help="write the rows there as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        files = programs(folder)
        waiting = [pool.submit(row, options.symprof, name, record, files[program_of(record["case"])])
                   for name, record in records(options.only)]
        rows = [one.result() for one in waiting]
    if options.rows:
        options.rows.write_text(json.dumps(rows, indent=1) + "\n")
    print_table(rows)


if __name__ == "__main__":
    main()

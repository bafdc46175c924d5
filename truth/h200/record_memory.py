#!/usr/bin/env python3
"""Records what real training steps take of a GPU's memory, event by event.

One process per case, results written as they come; what is already there is skipped. README.md
beside this file has the commands and the meaning of every field; memory/ has what is recorded.
"""
import argparse
import collections
import pathlib
import re
import sys
import zipfile

from memory.jobs import all_jobs, status_of
from memory.processes import run_all


def collect(source, target):
    """One archive per model and one of the probes, for the repository; what is there of other jobs stays."""
    target.mkdir(parents=True, exist_ok=True)
    groups = collections.defaultdict(list)
    for job in all_jobs():
        if (source / job.path).exists():
            groups["probes" if job.kind == "probe" else re.split("-", job.name)[0]].append(job)
    for group, jobs in groups.items():
        path, before = target / f"{group}.zip", {}
        if path.exists():
            with zipfile.ZipFile(path) as old:
                before = {name: old.read(name) for name in old.namelist()}
        replaced = {f"{job.kind}-{job.name}" for job in jobs}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
            for name, data in before.items():
                if name.partition("/")[0] not in replaced:
                    out.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
            for job in jobs:
                with zipfile.ZipFile(source / job.path) as one:
                    for name in one.namelist():
                        info = zipfile.ZipInfo(f"{job.kind}-{job.name}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
                        out.writestr(info, one.read(name), zipfile.ZIP_DEFLATED, 9)
    size = sum(path.stat().st_size for path in target.glob("*.zip"))
    print(f"{sum(map(len, groups.values()))} results in {len(groups)} files, {size} bytes")


def print_list(jobs):
    for job in jobs:
        print(f"{job.kind:6} {job.name} ~{job.seconds:g} s")
    total = collections.Counter()
    for job in jobs:
        total[job.kind] += job.seconds
    count = collections.Counter(job.kind for job in jobs)
    for kind in count:
        print(f"{count[kind]} of kind {kind}: about {total[kind] / 60:.1f} minutes, one at a time")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results; those there are skipped")
    parser.add_argument("--list", action="store_true", help="print what would run")
    parser.add_argument("--collect", type=pathlib.Path, metavar="FOLDER", help="write the archives for the repository")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true", help="small models and batches of 2")
    parser.add_argument("--only", default="", metavar="REGEX", help="jobs whose kind-name it finds")
    parser.add_argument("--retry", action="store_true", help="repeat what has another status than ok")
    parser.add_argument("--jobs", type=int, default=4, help="processes at a time")
    parser.add_argument("--lanes", type=int, default=1, help="of these on the device; device_used_bytes is null with more than 1")
    parser.add_argument("--limit", type=float, default=90, help="seconds for one process")
    parser.add_argument("--minutes", type=float, default=8, help="start nothing after that")
    parser.add_argument("--start", choices=("fork", "spawn"), default="fork")
    return parser.parse_args()


def main():
    options = arguments()
    jobs = [job for job in all_jobs() if re.search(options.only, f"{job.kind}-{job.name}")]
    if options.list:
        return print_list(jobs)
    if not options.out:
        sys.exit("record_memory.py: expected --out FOLDER for the results")
    if options.collect:
        return collect(options.out, options.collect)
    options.out.mkdir(parents=True, exist_ok=True)
    done = {job.name for job in jobs
            if (status := status_of(options.out, job)) and (status == "ok" or not options.retry)}
    left = [job for job in jobs if job.name not in done]
    print(f"{len(jobs)} jobs, {len(jobs) - len(left)} done before", flush=True)
    counts = run_all(left, options)
    sys.exit(0 if set(counts) <= {"ok"} else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Rehearses `symprof calibrate --device cuda` on the GPU that computes nothing.

Usage: calibrated.py PROGRAM --torch TORCH --cuda CUDA_INCLUDE [--fakes FOLDER] [--seconds 30]

PROGRAM is a symprof that loads TORCH, the CUDA build of 2.13.0 (fakes.py says how to get it). Every
operation that it asks for is in the log of operations.cpp, with a made-up duration, so what a
calibration says that it measured has to be there:

- the time of each kernel is that of nine calls, each behind a flush of the cache, to the nanosecond;
- every class of a GPU's sweep is measured and fitted, but for cuDNN's attention, whose engines are
  not in the fakes;
- a kernel in a CUDA graph takes what those of the replayed graphs took;
- Ctrl-C ends a calibration early, with what there is; the next one goes on behind it;
- where CUPTI may not record, CUDA's events say the same.

Times mean nothing here, so neither does the device file: it is only read by a profile."""
import collections
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import fakes

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RUNS = 9  # Of a kernel, whose times are summed.
GRAPH_KERNELS, REPLAYS = 200, 10
MOST_OPERATIONS = 80  # Of one call: a long sort has more than 40.
WITHOUT_ENGINE = {"attention_newer"}


def durations(lines):
    return [int(line.split("\t")[2]) for line in lines]


def sums_of_calls(log):
    """Nanoseconds of nine calls, whose records are taken by turns with those of what flushes the cache before each."""
    parts = [sum(durations(part)) for part in fakes.parts_of(log)]
    return [sum(parts[i:i + 2 * RUNS:2]) for i in range(len(parts) - 2 * RUNS + 2)]


def sums_between_events(log):
    """Of nine calls of as many operations each, with one between that flushes the cache."""
    until = [0, *itertools.accumulate(durations(log.splitlines()))]
    sums = set()
    for operations in range(1, MOST_OPERATIONS + 1):
        calls = [end - begin for begin, end in zip(until, until[operations:])]
        sums.update(map(sum, zip(*(calls[run * (operations + 1):] for run in range(RUNS)))))
    return sums


def last_graphs(log):
    """Durations of the graphs' nodes: a replay is one call, with one number for them all."""
    calls = collections.defaultdict(list)
    for line in log.splitlines():
        if line != "flush":
            calls[line.split("\t")[0]].append(line)
    graphs = [durations(lines) for lines in calls.values() if len(lines) == GRAPH_KERNELS]
    return list(itertools.chain(*graphs[-REPLAYS:]))


class Rehearsal:
    def __init__(self, program, variables, folder, seconds):
        self.program, self.variables, self.folder, self.seconds = program, variables, folder, seconds
        self.kernels, self.device, self.log = folder / "kernels.json", folder / "gpu.json", folder / "log"
        self.wrong = []

    def expect(self, is_so, words):
        if not is_so:
            self.wrong.append(words)

    def calibrate(self, seconds, **variables):
        self.log.unlink(missing_ok=True)
        command = [self.program, "calibrate", "--device", "cuda", "--minutes", str(seconds / 60), "--measurements",
                   str(self.kernels), "-o", str(self.device)]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True,
                                env={**os.environ, **self.variables, "FAKE_LAUNCH_LOG": str(self.log), **variables})

    def finish(self, process):
        out, error = process.communicate(timeout=300)
        self.expect(process.returncode == 0, f"exit code {process.returncode}: {error.strip()}")
        return out

    def read(self):
        return json.loads(self.kernels.read_text())

    def check_times(self, known=()):
        sums = collections.Counter(sums_of_calls(self.log.read_text()))
        found = self.read()
        for row in found["kernels"][len(known):] + found["repeated"]:
            ns = round(row["us"] * 1e3 * RUNS)
            if sums[ns] == 0:
                return self.expect(False, f"{row['class']} {row['work']}: {ns} ns of nine calls are nobody's")
            sums[ns] -= 1
        print(f"{len(found['kernels']) - len(known)} kernels have the times that were made up for them")

    def check_classes(self, output):
        candidates = re.search(r"gpu_classes\[\] = \{(.*?)\}", (ROOT / "session" / "calibrate.cpp").read_text(), re.S)
        wanted = set(re.findall(r"TimeClass::(\w+)", candidates[1]))
        fitted = {line.split()[0] for line in output.splitlines() if " ±" in line}
        self.expect(fitted == wanted - WITHOUT_ENGINE, f"other classes are fitted: {sorted(fitted ^ wanted)}")
        print(f"{len(fitted)} of {len(wanted)} classes are fitted")

    def check_facts(self):
        facts, device = self.read()["device"], json.loads(self.device.read_text())
        nodes = last_graphs(self.log.read_text())
        mean_us = sum(nodes) / max(len(nodes), 1) / 1e3
        self.expect(len(nodes) == GRAPH_KERNELS * REPLAYS, f"{len(nodes)} kernels in graphs")
        self.expect(abs(facts.get("graph_launch_us", 0) - mean_us) < 1e-4 * mean_us,
                    f"graph: {facts.get('graph_launch_us')} us, not {mean_us}")
        self.expect(facts["launch_us"] == min(row["us"] for row in self.read()["kernels"]), "the shortest kernel is another")
        self.expect(abs(device["graph_launch_us"] - mean_us) < 1e-3 * mean_us, "the device file has another graph_launch_us")
        self.expect(facts["processor"] in device["source"] and facts["date"] in device["source"], "the source is not said")
        for key in ("host_call_us", "torch_version"):
            self.expect(key in facts, f"nothing says {key}")

    def check_profile(self):
        command = [self.program, "profile", "models/tiny/mlp.pt2", "--device", str(self.device), "--time", "--launch", "graph",
                   "--format", "json"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        self.expect(done.returncode == 0 and json.loads(done.stdout)["totals"]["step_time_us"] > 0, f"profile: {done.stderr}")

    def check_interrupted(self):
        known = self.read()["kernels"]
        process = self.calibrate(600)
        deadline = time.monotonic() + 60
        while not self.log.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(2)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        self.finish(process)
        self.expect(time.monotonic() - began < 30, "Ctrl-C waits for half a minute")
        after = self.read()["kernels"]
        self.expect(after[:len(known)] == known, "what was measured before is not kept")
        self.expect(len(after) > len(known), "nothing was measured until Ctrl-C")
        works = [json.dumps([row["class"], row["work"], row.get("launches")]) for row in after]
        self.expect(len(set(works)) == len(works), "a kernel was measured twice")
        print(f"interrupted with {len(after) - len(known)} more")

    def check_events(self):
        """From event to event is all that the stream was asked for between."""
        self.kernels.unlink(missing_ok=True)
        self.finish(self.calibrate(self.seconds / 2, FAKE_CUPTI_REFUSES="1"))
        sums = sums_between_events(self.log.read_text())
        rows = self.read()["kernels"]
        for row in rows:
            ns = round(row["us"] * 1e3 * RUNS)
            self.expect(sums & {ns - 1, ns, ns + 1}, f"{row['class']} {row['work']}: {ns} ns between events are nobody's")
        print(f"{len(rows)} kernels by events")

    def run(self):
        output = self.finish(self.calibrate(self.seconds))
        self.check_times()
        self.check_classes(output)
        self.check_facts()
        self.check_profile()
        self.check_interrupted()
        self.check_events()
        return self.wrong


def main():
    parser = fakes.argument_parser(__doc__, "program")
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        variables = fakes.variables_of(options, folder / "fakes")
        wrong = Rehearsal(options.program, variables, folder, options.seconds).run()
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares what single calls take on the simulated H200 with what they took on a real one.

usage: compare_probes.py [PROBE...]      (with symprof's Python package and its PyTorch)

The calls are those of record_memory.py's probes, the same functions. Compared are the bytes that a
call takes while it runs (transient) and what it leaves (kept). A row that is not equal needs a cause
in probe_causes.json, whose bounds hold symprof's figure less the recorded one; a cause that no row
has is a complaint too. What a recurrent layer keeps for backward must be among the recorded requests."""
import argparse
import collections
import json
import pathlib
import statistics
import sys
import warnings
import zipfile

import symprof  # above torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from memory.probes import convolution, measuring, table  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PROBES = ("normalization", "sort", "reduction", "index_put", "embedding", "attention_scratch", "attention_scratch_cudnn",
          "recurrent", "recurrent_sizes", *(f"convolutions_{model}" for model in convolution.WITH_CONVOLUTIONS))
# What cuDNN's benchmark takes at the first call of a convolution; how many of them must be near. Formulas were looked for
# in the trials of two drawn sets and of the models, and judged on the other two sets.
TRIALS = {"models": ([f"trials_{model}" for model in convolution.WITH_CONVOLUTIONS], 0.62),
          "drawn, looked at": (["trials_drawn_0", "trials_drawn_1"], 0.45), "drawn, to judge": (["trials_drawn_2", "trials_drawn_3"], 0.42)}
NEAR = 0.03
ALIGNED = 32  # bytes, of the parts of a reserve whose rows have an odd length
FIGURES = ("transient_bytes", "kept_bytes")
RESULTS = (*FIGURES, "requests", "error", "reserves")


class Reserves(TorchDispatchMode):
    """Bytes that recurrent layers keep for backward: cuDNN's reserve."""

    def __init__(self):
        super().__init__()
        self.found = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function is torch.ops.aten._cudnn_rnn.default:
            self.found.append(result[3].nbytes)
        return result


def measured(device, function, warm=True):
    """As memory.probes.measuring.measured, without the allocator's history, which symprof does not keep."""
    with Reserves() as reserves:
        if warm:
            function()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    result = function()
    peak, after = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
    del result
    return {"transient_bytes": peak - before, "kept_bytes": after - before, "reserves": reserves.found}


def rows_of(probe):
    """(settings, estimated, recorded) of each call."""
    with zipfile.ZipFile(HERE / "data" / "probes.zip") as files:
        recorded = json.loads(files.read(f"probe-{probe}/record.json"))["rows"]
    with symprof.simulate(device="h200"):
        estimated = table.PROBES[probe](False, torch.device("cuda"))
    for one, other in zip(estimated, recorded, strict=True):
        settings = {name: value for name, value in other.items() if name not in RESULTS}
        ran = json.loads(json.dumps({name: value for name, value in one.items() if name not in RESULTS}))
        if ran != settings:
            raise ValueError(f"{probe}: found {ran}, {settings} was recorded")
        yield settings, one, other


def differences(estimated, recorded):
    """Bytes too many for each figure, or the error of a call that one of the two refuses."""
    errors = [row.get("error") for row in (estimated, recorded)]
    if any(errors):
        return None if errors[0] == errors[1] else {"error": str(errors[0] or errors[1])}
    found = {name: estimated[name] - recorded[name] for name in FIGURES}
    return found if any(found.values()) else None


def explains(cause, probe, settings, found):
    if cause["probe"] != probe or any(settings[name] not in values for name, values in cause["where"].items()):
        return False
    if "error" in found or "error" in cause:
        return "error" in found and cause.get("error", "\0") in found["error"]
    return all(cause.get(name, [0, 0])[0] <= found[name] <= cause.get(name, [0, 0])[1] for name in FIGURES)


def compare(probe, causes):
    """Prints a line for the probe; gives the causes that it has and what none explains."""
    total, equal, reserves, used, complaints, errors = 0, 0, 0, collections.Counter(), [], []
    for settings, estimated, recorded in rows_of(probe):
        total += 1
        for reserve in filter(None, estimated.get("reserves", ())):
            if not any(abs(reserve - request) <= ALIGNED for request in recorded["requests"]):
                complaints.append(f"{probe}: {settings}: no request of {reserve} bytes was recorded, the layer's reserve")
            reserves += 1
        if "error" not in estimated and "error" not in recorded:
            errors.append(abs(estimated["transient_bytes"] / max(recorded["transient_bytes"], 1) - 1))
        found = differences(estimated, recorded)
        if found is None:
            equal += 1
            continue
        number = next((n for n, cause in enumerate(causes) if explains(cause, probe, settings, found)), None)
        if number is None:
            complaints.append(f"{probe}: {settings}: {found}, without a cause in probe_causes.json")
        else:
            used[number] += 1
    near = sum(error <= NEAR for error in errors)
    print(f"| {probe} | {total} | {equal} | {sum(used.values())} | {near} | {statistics.median(errors):.2%} |", flush=True)
    if reserves:
        print(f"    {reserves} reserves of recurrent layers looked for among the requests")
    for number, count in sorted(used.items()):
        print(f"    {count}: {causes[number]['because']}")
    complaints += [f"{probe}: no row has the cause {cause['because']!r}"
                   for number, cause in enumerate(causes) if cause["probe"] == probe and not used[number]]
    return complaints


def compare_trials(name):
    """Prints a line for a group of trials; complains where fewer are near than must be."""
    probes, share = TRIALS[name]
    errors, equal = [], 0
    for probe in probes:
        for _, estimated, recorded in rows_of(probe):
            errors.append(abs(estimated["transient_bytes"] / max(recorded["transient_bytes"], 1) - 1))
            equal += estimated["transient_bytes"] == recorded["transient_bytes"]
    near = sum(error <= NEAR for error in errors)
    tenth = sorted(errors)[len(errors) * 9 // 10]
    print(f"| trials: {name} | {len(errors)} | {equal} | | {near} | {statistics.median(errors):.2%} | 90 %: {tenth:.0%}", flush=True)
    return [] if near >= share * len(errors) else [f"trials, {name}: {near} of {len(errors)} are near, {share:.0%} are wanted"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probes", nargs="*", default=(*PROBES, *TRIALS), help="all, where none is given")
    options = parser.parse_args()
    measuring.measured = measured
    causes = json.loads((HERE / "probe_causes.json").read_text())
    print("| probe | calls | equal | with a cause | ≤ 3 % | median |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    complaints = [line for probe in options.probes for line in (compare_trials(probe) if probe in TRIALS else compare(probe, causes))]
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

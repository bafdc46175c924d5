#!/usr/bin/env python3
"""Compares estimated times of operators with those of a real H200 (truth/h200/kernel_record), by class of kernels.

    python scripts/time/compare_operators.py PROGRAM [--device h100] [--times devices/time/h200.json] [--check]

PROGRAM is symprof_time_rows. Only the half is judged that fit_h200.py does not see; of an H100 (truth/h100/kernel_record,
by the same recorder) all, which no fit sees. Errors are
|predicted / measured - 1| in per cent, median / 90th percentile; within: in their 90 % interval; by chance: between which
shares of so many rows nine draws of ten would lie; width: half of it, median. "…, in L2" are calls that find their
operands there. --check fails where a median is above its bound below."""
import argparse
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import h200_rows

TIMES = h200_rows.ROOT / "devices" / "time"
# Medians in per cent that a change of formulas or rules may not exceed: what was reached, and a tenth of it.
BOUNDS = {"attention_flash": 12.0, "attention_fp32": 4.6, "attention_newer": 10.1, "batch_norm": 15.6,
          "batch_norm_native": 19.5, "batch_norm_rows": 11.4, "convolution_16bit": 17.2, "convolution_fp32": 29.4,
          "convolution_tf32": 16.9, "copy": 41.8, "depthwise": 5.0, "depthwise_cudnn": 17.2, "elementwise": 4.2,
          "gather": 11.1, "group_norm": 9.2, "layer_norm": 11.0, "pooling": 31.5, "product_16bit": 3.8, "product_8bit": 4.3,
          "product_fp32": 7.2, "product_tf32": 6.5, "recurrent_16bit": 3.0, "recurrent_tf32": 3.2, "reduction": 6.3,
          "rms_norm": 10.1, "softmax": 10.8, "convolution_16bit, in L2": 18.5, "convolution_tf32, in L2": 27.8,
          "elementwise, in L2": 14.0, "layer_norm, in L2": 8.2, "product_16bit, in L2": 5.3, "product_tf32, in L2": 10.7,
          "product_fp32, in L2": 10.2, "reduction, in L2": 7.4, "softmax, in L2": 16.1}


def classes_of(path):
    """A device's classes, and for others the data sheet's, with a launch in place of a host's floor."""
    shared = json.loads((TIMES / "data_sheet.json").read_text())["classes"]
    classes = {**shared, **json.loads(pathlib.Path(path).read_text())["classes"]}
    for times in classes.values():
        if times.get("floor_is_host"):
            times["coefficients"]["floor"] = h200_rows.LAUNCH_US
    return classes


def judged(program, lines, classes, device):
    """(us, low, high) of each line; empty where no class serves. Launches that the rule counts apart are on top."""
    if lines[0]["class"] in h200_rows.OF_SEVERAL:
        return judged_by_kernel(program, lines, classes, device)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "times.json").write_text(json.dumps({"classes": classes}))
        columns = list(lines[0]["work"])
        text = [",".join(columns)] + [",".join(str(line["work"][column]) for column in columns) for line in lines]
        (folder / "rows.csv").write_text("\n".join(text) + "\n")
        output = subprocess.run([program, "judge", h200_rows.ROOT / "devices" / f"{device}.json", folder / "times.json",
                                 lines[0]["class"], folder / "rows.csv"], text=True, capture_output=True, check=True)
    values = [[float(cell) for cell in line.split(",")[:3]] for line in output.stdout.splitlines()[1:]]
    return [[cell + line["more"] for cell in row] for row, line in zip(values, lines)]


def judged_by_kernel(program, lines, classes, device):
    """Sums of a call's kernels, whose errors go together."""
    by_class, sums = {}, [[line["more"]] * 3 for line in lines]
    for place, line in enumerate(lines):
        for time_class, work in line["work"]["kernels"]:
            by_class.setdefault(time_class, []).append({"class": time_class, "work": work, "more": 0, "place": place})
    for kernels in by_class.values():
        for kernel, row in zip(kernels, judged(program, kernels, classes, device)):
            sums[kernel["place"]] = [one + more for one, more in zip(sums[kernel["place"]], row)]
    return sums


def groups(lines, classes):
    """(name, lines, classes) of what is judged apart: each class, and behind it what finds its operands in L2."""
    for time_class in sorted({line["class"] for line in lines}):
        of_class = [line for line in lines if line["class"] == time_class]
        usual = [line for line in of_class if h200_rows.is_fitted(line)]
        in_cache = [line for line in of_class if h200_rows.is_in_cache(line)]
        if usual:
            yield time_class, usual, classes
        if in_cache and "in_cache" in classes.get(time_class, {}):
            yield f"{time_class}, in L2", in_cache, {time_class: classes[time_class]["in_cache"]}


def by_chance(count):
    """Of so many rows of which each is in its interval with a chance of 90 %, the shares between which nine draws of ten
    lie (binomial)."""
    sums = list(itertools.accumulate(math.comb(count, k) * 0.9 ** k * 0.1 ** (count - k) for k in range(count + 1)))
    return [next(k for k, total in enumerate(sums) if total >= share) / count for share in (0.05, 0.95)]


def quantile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--device", choices=("h200", "h100"), default="h200")
    parser.add_argument("--times")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    classes, too_far = classes_of(given.times or TIMES / f"{given.device}.json"), []
    lines = [line for line in h200_rows.table(given.device, given.program) if not (given.device == "h200" and line["drawn"])]
    print("| class | rows | error | within | by chance | ± width |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for time_class, of_class, of_device in groups(lines, classes):
        rows = judged(given.program, of_class, of_device, given.device)
        if any(us != us for us, _, _ in rows):
            print(f"| {time_class} | {len(rows)} | no coefficients | | | |")
            too_far.append(time_class)
            continue
        wrong = [100 * abs(us / line["us"] - 1) for (us, _, _), line in zip(rows, of_class)]
        within = statistics.mean(low <= line["us"] <= high for (_, low, high), line in zip(rows, of_class))
        chance = " to ".join(f"{share:.0%}" for share in by_chance(len(rows)))
        width = statistics.median((high - low) / 2 / us for us, low, high in rows)
        median = statistics.median(wrong)
        print(f"| {time_class} | {len(rows)} | {median:.1f} / {quantile(wrong, 0.9):.1f} | {within:.0%} | {chance} | {width:.0%} |")
        if given.device == "h200" and median > BOUNDS.get(time_class, 0):
            too_far.append(time_class)
    if given.check and too_far:
        sys.exit(f"not within their bounds: {', '.join(too_far)}")


if __name__ == "__main__":
    main()

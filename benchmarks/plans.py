#!/usr/bin/env python3
"""Checkpoint plans of many models within ten budgets each: how far from the best they may be, and how long they take.

Usage: benchmarks/plans.py PROGRAM [MODEL ...] [--alloc-conf CONF] [--budgets N] [-o RESULT.json]
Without models: the shipped ones, those of tests/zoo/models, and the decoder of pytorch#197838. Budgets lie evenly between what the step reserves when
every region runs again and what it reserves without a plan, both left out. The gap is what is certified: the plan's
time above the lower bound, in per cent of the step. Prints a Markdown table, and checks in each run that time never
rises with the budget. Seconds are those of a whole process with one budget in the middle, beside `symprof profile`."""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMON = ["--optimizer", "adamw", "--device", "h100"]


def models_of(given):
    if given:
        return given
    shipped = sorted((ROOT / "models").glob("*.pt2"))
    narrow = ROOT / "truth/plans/models/narrow_decoder.pt2"
    return [str(path.relative_to(ROOT)) for path in
            shipped + sorted((ROOT / "tests/zoo/models").glob("*.pt2")) + [narrow]]


def distribution(gaps):
    """How many budgets have a gap of so much or less; of those without a bound or a plan, none is known."""
    known = [gap for gap in gaps if gap is not None]
    shares = ", ".join(f"≤ {most} % in {sum(gap <= most for gap in known)} ({100 * sum(gap <= most for gap in known) / len(gaps):.1f} %)"
                       for most in (0.1, 0.5, 1, 2, 5))
    return f"{len(gaps)} budgets: gap {shares}; largest {max(known, default=0):.2f} %; not known in {len(gaps) - len(known)}."


class Refused(Exception):
    pass


def asked(program, *arguments):
    """The answer, and the wall seconds of the process."""
    start = time.perf_counter()
    result = subprocess.run([program, *arguments, "--format", "json"], cwd=ROOT, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if result.returncode not in (0, 1) or not result.stdout:
        raise Refused(result.stderr.strip().splitlines()[0] if result.stderr else "no output")
    return json.loads(result.stdout), seconds


def measured(program, model, options, count):
    whole, _ = asked(program, "plan", "checkpoint", model, *options, "--budget", "100TiB")
    high, low = whole["without"]["peak_reserved_bytes"], whole["all_again"]["peak_reserved_bytes"]
    row = {"model": pathlib.Path(model).stem, "plain_bytes": high, "all_again_bytes": low,
           "regions": len(whole["regions"])}
    if high - low < 0.01 * high:
        return row | {"note": "running everything again frees less than 1 %"}
    budgets = [low + (high - low) * (i + 1) // (count + 1) + whole["context_bytes"] for i in range(count)]
    answer, _ = asked(program, "plan", "checkpoint", model, *options, "--budget", ",".join(map(str, budgets)))
    costs = [one.get("recompute_time_us") for one in answer["budgets"]]
    for less, more in zip(costs, costs[1:]):
        assert less is None or (more is not None and more <= less), f"{model}: more time with a larger budget"
    gaps = [one["gap_percent"] for one in answer["budgets"]]
    _, one = asked(program, "plan", "checkpoint", model, *options, "--budget", str(budgets[count // 2]))
    profile, alone = asked(program, "profile", model, *options)
    shares = [None if cost is None else 100 * cost / (one_["step_time_us"] - cost)
              for cost, one_ in zip(costs, answer["budgets"])]
    return row | {"gaps": gaps, "more_time_percent": shares, "found": sum(cost is not None for cost in costs),
                  "plan_seconds": one, "profile_seconds": alone, "calls": profile["totals"].get("calls")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--alloc-conf", default="expandable_segments:False")  # So that no second plan is looked for.
    parser.add_argument("--budgets", type=int, default=10)
    parser.add_argument("-o", "--output")
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    options = [*COMMON, "--alloc-conf", given.alloc_conf]
    rows, gaps = [], []
    print("| model | regions | found | median gap | largest gap | ≤ 1 % | plan | profile |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |")
    for model in models_of(given.models):
        try:
            row = measured(program, model, options, given.budgets)
        except Refused as refusal:
            row = {"model": pathlib.Path(model).stem, "note": re.sub(r"^symprof: ", "", str(refusal))}
        rows.append(row)
        if "gaps" not in row:
            print(f"| {row['model']} | {row.get('regions', '')} | {row['note']} | | | | | |", flush=True)
            continue
        known = sorted(gap for gap in row["gaps"] if gap is not None)
        gaps += row["gaps"]
        within = sum(gap <= 1 for gap in known)
        figures = [f"{known[len(known) // 2]:.2f} %", f"{known[-1]:.2f} %"] if known else ["?", "?"]
        print(f"| {row['model']} | {row['regions']} | {row['found']} of {given.budgets} | {figures[0]} | {figures[1]} | "
              f"{within} | {row['plan_seconds']:.2f} s | {row['profile_seconds']:.2f} s |", flush=True)
    if gaps:
        print(f"\n{distribution(gaps)} In each model, time never rose with the budget.")
    if given.output:
        pathlib.Path(given.output).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())

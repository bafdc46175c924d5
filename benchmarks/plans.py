#!/usr/bin/env python3
"""Checkpoint plans of many models within ten budgets each: how far from the best they may be, and how long they take.

Usage: benchmarks/plans.py PROGRAM [MODEL ...] [--beside OTHER] [--alloc-conf CONF] [--budgets N] [-o RESULT.json]
Without models: the shipped ones, those of tests/zoo/models, and the decoder of pytorch#197838. Budgets lie evenly between what the step reserves when
every region is recomputed and what it reserves without a plan, both left out. The gap is what is certified: the plan's
time above the lower bound, in per cent of the step. Prints a Markdown table, and checks in each run that time never
rises with the budget. CPU seconds are those of one process with all budgets, of OTHER with the same budgets (another
build, asked right after), and of one that finds no plan necessary. The last line says whether the target is met."""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys

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
    is_met = 20 * sum(gap > 2 for gap in known) <= len(gaps) and max(known, default=0) <= 5
    return (f"{len(gaps)} budgets: gap {shares}; largest {max(known, default=0):.2f} %; not known in {len(gaps) - len(known)}. "
            f"The target (≤ 2 % in 95 %, ≤ 5 % in all) is {'met' if is_met else 'not met'}.")


class Refused(Exception):
    pass


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def asked(program, *arguments):
    """The answer, and the CPU seconds of the process."""
    before = cpu_seconds()
    result = subprocess.run([program, *arguments, "--format", "json"], cwd=ROOT, capture_output=True, text=True)
    seconds = cpu_seconds() - before
    if result.returncode not in (0, 1) or not result.stdout:
        raise Refused(result.stderr.strip().splitlines()[0] if result.stderr else "no output")
    return json.loads(result.stdout), seconds


def measured(program, beside, model, options, count):
    whole, without = asked(program, "plan", "checkpoint", model, *options, "--budget", "100TiB")
    high, low = whole["without"]["peak_reserved_bytes"], whole["all_again"]["peak_reserved_bytes"]
    row = {"model": pathlib.Path(model).stem, "plain_bytes": high, "all_again_bytes": low,
           "regions": len(whole["regions"])}
    if high - low < 0.01 * high:
        return row | {"note": "running everything again frees less than 1 %"}
    budgets = [low + (high - low) * (i + 1) // (count + 1) + whole["context_bytes"] for i in range(count)]
    question = ["plan", "checkpoint", model, *options, "--budget", ",".join(map(str, budgets))]
    answer, seconds = asked(program, *question)
    costs = [one.get("recompute_time_us") for one in answer["budgets"]]
    for less, more in zip(costs, costs[1:]):
        assert less is None or (more is not None and more <= less), f"{model}: more time with a larger budget"
    gaps = [one["gap_percent"] for one in answer["budgets"]]
    shares = [None if cost is None else 100 * cost / (one_["step_time_us"] - cost)
              for cost, one_ in zip(costs, answer["budgets"])]
    return row | {"gaps": gaps, "more_time_percent": shares, "found": sum(cost is not None for cost in costs),
                  "seconds": seconds, "seconds_without": without} | other_plans(beside, question)


def other_plans(beside, question):
    if not beside:
        return {}
    answer, seconds = asked(beside, *question)
    return {"other_gaps": [one["gap_percent"] for one in answer["budgets"]], "other_seconds": seconds}


def print_sums(rows):
    print(f"\n{distribution([gap for row in rows for gap in row['gaps']])} In each model, time never rose with the budget.")
    print(f"{sum(row['seconds'] for row in rows):.1f} CPU s, {sum(row['seconds_without'] for row in rows):.1f} without a plan.")
    if "other_gaps" in rows[0]:
        print(f"Other build: {distribution([gap for row in rows for gap in row['other_gaps']])} "
              f"{sum(row['other_seconds'] for row in rows):.1f} CPU s.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--alloc-conf", default="expandable_segments:False")  # So that no second plan is looked for.
    parser.add_argument("--beside", help="another build of the program, for the same budgets")
    parser.add_argument("--budgets", type=int, default=10)
    parser.add_argument("-o", "--output")
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    beside = given.beside and str(pathlib.Path(given.beside).resolve())
    options = [*COMMON, "--alloc-conf", given.alloc_conf]
    rows = []
    print("| model | regions | found | median gap | largest gap | ≤ 2 % | CPU s | other CPU s | without a plan |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for model in models_of(given.models):
        try:
            row = measured(program, beside, model, options, given.budgets)
        except Refused as refusal:
            row = {"model": pathlib.Path(model).stem, "note": re.sub(r"^symprof: ", "", str(refusal))}
        rows.append(row)
        if "gaps" not in row:
            print(f"| {row['model']} | {row.get('regions', '')} | {row['note']} | | | | | | |", flush=True)
            continue
        known = sorted(gap for gap in row["gaps"] if gap is not None)
        within = sum(gap <= 2 for gap in known)
        figures = [f"{known[len(known) // 2]:.2f} %", f"{known[-1]:.2f} %"] if known else ["?", "?"]
        print(f"| {row['model']} | {row['regions']} | {row['found']} of {given.budgets} | {figures[0]} | {figures[1]} | "
              f"{within} | {row['seconds']:.2f} | {row.get('other_seconds', float('nan')):.2f} | {row['seconds_without']:.2f} |", flush=True)
    if found := [row for row in rows if "gaps" in row]:
        print_sums(found)
    if given.output:
        pathlib.Path(given.output).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())

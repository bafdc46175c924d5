#!/usr/bin/env python3
"""Judges the kernel times of devices/time/ on rows that no fit saw, and writes docs/evaluation/time_accuracy.md.

    python scripts/time/judge.py DATA [--program build/release/bin/symprof_time_rows] [--print]

The drawn rows are those of fit.py's seed; at most 4,000 of the others are judged, drawn with a seed of their own."""
import argparse
import json
import pathlib

import numpy
import pandas
from scipy.spatial import cKDTree

import fit
import sources

JUDGED, SEED = 4000, 23
FEW_UNSEEN, DRAWS = 200, 8
STEPS = "\n## Whole steps\n"  # The part of judge_steps.py, which stays.
FEW = 150, 15  # Rows of products, and large ones beside them: what a short calibration measures.
HEAD = """# How far kernel times are off

`scripts/time/judge.py` writes this page. Each line is a class of kernels on a device: measured rows of
`scripts/time/README.md` that no fit saw, drawn with seed {seed}. Errors are of the program's own formulas with the
coefficients, residuals and intervals of `devices/time/`; each is |predicted / measured - 1|, in per cent, median / 90th
percentile. *Roofline* is the larger of FLOPs by the peak and bytes by the bandwidth, of the same rows. *Within* is how
many rows lie in their 90 % interval, *± width* half of that interval (median). A source that leaves few rows to judge is
drawn and fitted {draws} times, as chance decides on which side its outliers are; rows are those of all draws.

The rows of 16-bit products and of `attention_newer` on h100 and h200, and of `product_fp32` on h100, are judged with fits
on these public rows. Their files are fitted on PyTorch's own calls on an H200 ([accuracy.md](accuracy.md#times-on-an-h200)).

| device | class | rows | fitted on | error | roofline | within | ± width |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""
SHEET = fit.ROOT / "devices" / "time" / "data_sheet.json"  # Has what campaigns differ by.
SUBSETS = {  # What is asked of a part of the rows: its name, and which they are.
    "product_16bit": ("over 1e12 FLOPs", lambda rows: fit.flops_of(rows) > 1e12),
    "attention_flash": ("over 100 µs", lambda rows: rows.us > 100),
    "attention_newer": ("over 100 µs", lambda rows: rows.us > 100),
    "elementwise": ("over 50 µs", lambda rows: rows.us > 50),
    "layer_norm": ("over 50 µs", lambda rows: rows.us > 50),
    "softmax": ("over 50 µs", lambda rows: rows.us > 50),
}


def of_errors(errors):
    return f"{100 * numpy.median(errors):.1f} / {100 * numpy.quantile(errors, 0.9):.1f}"


def roofline(program, rows):
    one = fit.Program(program, rows)
    us = one.ask("roofline")
    one.close()
    return us


def line(rows, label, drawn, values, bound, chosen):
    us, (middle, low, high) = rows.us[chosen], values[chosen].T
    within = 100 * numpy.mean((low <= us) & (us <= high))
    width = 100 * numpy.median((high - low) / 2 / middle)
    return (f"| {rows.device} | {label} | {len(us):,} | {drawn} | {of_errors(abs(middle / us - 1))} | "
            f"{of_errors(abs(bound[chosen] / us - 1))} | {within:.0f} % | {width:.0f} % |")


def lines_of(rows, drawn, values, bound, places):
    """Of judged rows, some of them more than once, as values and bounds are."""
    judged = rows.part(places)
    yield line(judged, rows.time_class, drawn, values, bound, numpy.ones(len(places), dtype=bool))
    if rows.time_class in SUBSETS:
        label, which = SUBSETS[rows.time_class]
        chosen = numpy.asarray(which(judged))
        if chosen.sum() >= 20:
            yield line(judged, f"… {label}", drawn, values, bound, chosen)


def judged(program, rows, times, unseen):
    """Places of at most JUDGED rows that the fit of `times` did not see, and what it says of them."""
    places = numpy.sort(numpy.random.default_rng(SEED).permutation(unseen)[:JUDGED])
    return places, fit.judge(program, rows.part(places), times)[0]


def drawn_again(program, rows):
    """Other draws of a source that leaves few rows to judge: which of them are outliers is chance."""
    for seed in range(fit.SEED + 1, fit.SEED + DRAWS):
        drawn, unseen = fit.draw(rows, seed=seed)
        yield judged(program, rows, fit.fit_class(program, rows, drawn, seed), unseen)


def is_of(rows, times):
    return rows.source in times["fitted_on"]


def lines_of_fit(program, rows, times, drawn, unseen):
    found = [judged(program, rows, times, unseen)]
    label = str(len(drawn))
    if len(unseen) < FEW_UNSEEN:
        found += drawn_again(program, rows)
        label += f", {DRAWS} draws"
    places = numpy.concatenate([part[0] for part in found])
    values = numpy.concatenate([part[1] for part in found])
    yield from lines_of(rows, label, values, roofline(program, rows.part(places)), places)


def table(program, data, only):
    for rows in sources.all_rows(data):
        path = fit.ROOT / "devices" / "time" / f"{rows.device}.json"
        if only not in ("", rows.device, rows.time_class) or not path.exists():
            continue
        times = json.loads(path.read_text())["classes"].get(rows.time_class)
        if times is None:
            continue
        drawn, unseen = fit.draw(rows)
        if not is_of(rows, times):  # Fitted on PyTorch's own calls: these rows need a fit of theirs.
            times = fit.fit_class(program, rows, drawn)
        yield from lines_of_fit(program, rows, times, drawn, unseen)
        if rows.time_class == "product_16bit" and len(rows.us) > 1000:
            few, _ = fit.draw(rows, *FEW)
            yield from lines_of_fit(program, rows, fit.fit_class(program, rows, few), few, numpy.setdiff1d(unseen, few))


TRANSFER_HEAD = """
## Without measurements of the device

The same rows with coefficients that never saw the device: those that serve the others (as `devices/time/data_sheet.json`
does for devices that nobody measured), and those of H100 on H200, which have the same chip. No residuals.

| device | class | coefficients of | rows | error | roofline |
| --- | --- | --- | --- | --- | --- |
"""


def transfers(program, data):
    by_class = {}
    for rows in sources.all_rows(data):
        by_class.setdefault(rows.time_class, []).append(rows)
    for time_class, parts in by_class.items():
        few = {rows.device: rows.part(fit.draw(rows, 150, 15)[0]) for rows in parts}
        for rows in parts:
            chosen = [part for device, part in few.items() if device != rows.device]
            if chosen:
                yield transfer(program, rows, "the others", chosen)
            if rows.device == "h200":
                yield transfer(program, rows, "h100", [few["h100"]])


OTHERS_HEAD = """
## Measured by others

H200's classes are fitted on PyTorch's own calls (`scripts/time/fit_h200.py`), and H100's are those of H200, which has the
same chip; those above on the measurements of a kernel library's authors, with their driver, their version and their way
to time. Between the two lies what times of one device differ by from one person to another.

| device | class | rows | error | within |
| --- | --- | --- | --- | --- |
"""


def others(program, data):
    for rows in sources.all_rows(data):
        path = fit.ROOT / "devices" / "time" / f"{rows.device}.json"
        times = json.loads(path.read_text())["classes"].get(rows.time_class) if path.exists() else None
        if times is None or is_of(rows, times):
            continue
        judged = rows.part(numpy.sort(numpy.random.default_rng(SEED).permutation(len(rows.us))[:JUDGED]))
        middle, low, high = fit.judge(program, judged, times, SHEET)[0].T
        within = 100 * numpy.mean((low <= judged.us) & (judged.us <= high))
        yield (f"| {rows.device} | {rows.time_class} | {len(judged.us):,} | {of_errors(abs(middle / judged.us - 1))} | "
               f"{within:.0f} % |")


NOISE_HEAD = """
## What measurements differ by

Public rows of linear layers are the median of several campaigns, each with a PyTorch and a cuBLAS of its own, and of
A100 three in four are of one campaign alone. *One against the median* is a bound from below of the 90th percentile, in per
cent: the campaigns with the shortest and the longest time count with what they differ by, all others as if they did not.
No formula can come nearer to a single campaign than that.

| device | rows of several campaigns | campaigns of each | one against the median |
| --- | --- | --- | --- |
"""


def single_campaign(table):
    """The 90th percentile of |campaign / median - 1| over all campaigns of all rows, at least."""
    extremes = pandas.concat([1 - table.us_min / table.us_median, table.us_max / table.us_median - 1]).to_numpy()
    exact = numpy.zeros(int((table.runs - 2).sum()))
    return 100 * numpy.quantile(numpy.concatenate([extremes, exact]), 0.9)


def noise(data):
    table = pandas.read_csv(pathlib.Path(data) / "ops_linear_bf16_aic.csv")
    for gpu, device in sources.AIC.items():
        several = table[(table.gpu == gpu) & (table.runs >= 3)]
        yield (f"| {device} | {len(several):,} of {(table.gpu == gpu).sum():,} | "
               f"{several.runs.min()} to {several.runs.max()} | {single_campaign(several):.1f} |")


PAIRS_HEAD = """
NeuSight measured products of random sizes in one session and those of models in another. *Pairs* are rows of sizes that
differ by less than an eighth of an octave in all, that ran in the same kernel for more than 300 µs; what their times for a
FLOP differ by, in per cent, median / 90th percentile, in one session (random sizes, models) and between both. *From all
others* is what a row's time is off of what its eight nearest neighbors say (their time for what the formula says, by
distance): among all other rows of the same session, operator and kernel, which are thirty times as many as a fit draws, and
by the name of the kernel that ran, which no estimate has. An interval of one width for all of T4's rows could hardly be
narrower than that: its clock follows its power, which depends on what ran before. The rows are ordered by size and do not say
that: batched products of models ran in one kernel at 3 to 7 TFLOP/s. Linear layers are as steady there as elsewhere. Intervals
that are narrow for some rows and wide for others, as these are, can have less in the median, but need many rows to tell them
apart: so fit.py draws 4,800. `judge_more_rows.py DATA` takes so many rows of a T4 as points, and judges on the same 3,000 others:

| device | points | error | within | ± width |
| --- | ---: | ---: | ---: | ---: |
| t4 | 300 | 11.2 / 33.1 | 93 % | 37 % |
| t4 | 1,200 | 9.2 / 28.8 | 91 % | 29 % |
| t4 | 4,800 | 7.8 / 26.3 | 91 % | 24 % |

| device | random sizes: pairs | differ | models: pairs | differ | between: pairs | differ | from all others | linear layers of models alone |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
SHORTEST_OF_PAIR, OCTAVES_OF_PAIR = 300, 0.125
NEIGHBORS = 8


def from_all_others(program, rows, table):
    """By how much each row's logarithm is off of its nearest neighbors' in the same session, operator and kernel; not a
    number where there are too few."""
    times = json.loads((fit.ROOT / "devices" / "time" / f"{rows.device}.json").read_text())["classes"][rows.time_class]
    residuals = numpy.log(rows.us / fit.predicted(program, rows, times["coefficients"]))
    wrong = numpy.full(len(table), numpy.nan)
    for places in table.groupby(["split", "op", "kernel"]).indices.values():
        if len(places) < NEIGHBORS + 2:
            continue
        sizes = numpy.log2(table.iloc[places][["batch", "m", "n", "k"]].to_numpy(dtype=float))
        distances, near = cKDTree(sizes).query(sizes, NEIGHBORS + 1)
        weights = 1 / (distances[:, 1:] + 0.1)
        said = (weights * residuals[places][near[:, 1:]]).sum(1) / weights.sum(1)
        wrong[places] = 100 * abs(residuals[places] - said)
    return wrong


def pairs(program, data):
    table = pandas.read_csv(pathlib.Path(data) / "ops_neusight_matmul_fp32.csv")
    all_rows = {rows.device: rows for rows in sources.neusight_products(pathlib.Path(data))}
    for gpu, device in sources.NEUSIGHT.items():
        of_gpu = table[table.gpu == gpu].reset_index(drop=True)
        wrong = from_all_others(program, all_rows[device], of_gpu)
        is_linear = ((of_gpu.split == "test") & (of_gpu.op == "linear_bias")).to_numpy()
        one = table[(table.gpu == gpu) & (table.us > SHORTEST_OF_PAIR)].reset_index(drop=True)
        sizes = one[["batch", "m", "n", "k"]].to_numpy(dtype=float)
        near = cKDTree(numpy.log2(sizes)).query_pairs(OCTAVES_OF_PAIR, output_type="ndarray")
        first, second = (one.loc[places].reset_index(drop=True) for places in near.T)
        per_flop = numpy.log(one.us / sizes.prod(axis=1)).to_numpy()
        differ = 100 * numpy.expm1(abs(per_flop[near[:, 0]] - per_flop[near[:, 1]]))
        same = (first.kernel == second.kernel).to_numpy()
        cells = []
        for wanted in (("train", "train"), ("test", "test"), None):
            is_one = (first.split != second.split) if wanted is None else (first.split == wanted[0]) & (second.split == wanted[1])
            chosen = differ[same & is_one.to_numpy()]
            cells += [str(len(chosen)), f"{numpy.median(chosen):.0f} / {numpy.quantile(chosen, 0.9):.0f}" if len(chosen) else "-"]
        cells += [f"{numpy.nanmedian(chosen):.0f} / {numpy.nanquantile(chosen, 0.9):.0f}" for chosen in (wrong, wrong[is_linear])]
        yield f"| {device} | {' | '.join(cells)} |"


def transfer(program, rows, label, chosen):
    judged = rows.part(numpy.sort(numpy.random.default_rng(SEED).permutation(len(rows.us))[:JUDGED]))
    us = fit.predicted(program, judged, fit.fit_coefficients(program, chosen))
    return (f"| {rows.device} | {rows.time_class} | {label} | {len(judged.us):,} | {of_errors(abs(us / judged.us - 1))} | "
            f"{of_errors(abs(roofline(program, judged) / judged.us - 1))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--program", default=fit.ROOT / "build" / "release" / "bin" / "symprof_time_rows")
    parser.add_argument("--only", default="", help="a device or a class; prints and writes nothing")
    parser.add_argument("--print", action="store_true")
    given = parser.parse_args()
    lines = []
    for one in table(given.program, given.data, given.only):
        lines.append(one)
        if given.print or given.only:
            print(one, flush=True)
    if not given.only:
        path = fit.ROOT / "docs/evaluation/time_accuracy.md"
        _, mark, steps = path.read_text().partition(STEPS) if path.exists() else ("", "", "")
        more = TRANSFER_HEAD + "\n".join(transfers(given.program, given.data)) + "\n"
        more += OTHERS_HEAD + "\n".join(others(given.program, given.data)) + "\n"
        more += NOISE_HEAD + "\n".join(noise(given.data)) + "\n"
        more += PAIRS_HEAD + "\n".join(pairs(given.program, given.data)) + "\n"
        path.write_text(HEAD.format(seed=SEED, draws=DRAWS) + "\n".join(lines) + "\n" + more + mark + steps)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Fits factors for kinds of kernels on consumer GPUs, of which whole steps alone are public, and judges them.

    python scripts/time/fit_timm.py DATA EXPORTED [--program build/release/bin/symprof]

DATA is the folder of README.md, EXPORTED what export_timm.py made of it. A step's time is the sum of its kernels' and of
what the device waits for; a factor for each kind of kernel is fitted to the logarithm of many steps. Families of models
are dealt into five parts. A step is judged with factors that saw none of its part: docs/evaluation/time_accuracy.md. The files in
devices/time/ have the factors of all parts. numpy, scipy and pandas are needed."""
import argparse
import json
import math
import pathlib

import numpy
from scipy.optimize import brentq, least_squares

import timm_steps

ROOT = timm_steps.ROOT
SEED, PARTS = 23, 5
RIDGE = 0.12  # How much a factor costs that is not 1, in the logarithm: kinds that few steps have stay near it.
COMMON = 0.10  # Half width of what is common to the kernels of a step (profile/step_time.cpp).
# Kinds that keep the data sheet's time, because the measured steps ran other kernels there than those that are
# predicted (timm_notes.md): a factor would hide that here, and be wrong everywhere else.
NOT_FITTED = {"product_fp32.one", "product_fp32.batched"}
# What moves bytes is no faster than memory, of which the data sheet's coefficients take 0.89.
MOVES_BYTES, LOWEST = {"elementwise", "copy", "batch_norm", "gather", "optimizer"}, 0.89
# Whose coefficients a class has that the data sheet's file lacks (profile/time/formula.cpp).
LIKE = {"batch_norm": "layer_norm", "copy": "elementwise", "gather": "elementwise", "sort": "elementwise",
        "optimizer": "elementwise", "transfer": "elementwise", "reduction": "layer_norm", "rms_norm": "layer_norm",
        "product_tf32": "product_16bit", "convolution_tf32": "convolution_16bit", "attention_fp32": "attention_flash"}


class Table:
    """Steps as a matrix: milliseconds of each kind of kernel."""

    def __init__(self, steps):
        self.steps = steps
        self.kinds = sorted({kind for step in steps for kind in step.answer["kernels"]})
        self.kernels = numpy.array([[step.answer["kernels"].get(kind, 0) for kind in self.kinds] for step in steps])
        self.is_fitted = numpy.array([kind not in NOT_FITTED for kind in self.kinds])
        self.idle = numpy.array([max(step.answer["step_ms"] - sum(step.answer["kernels"].values()), 0) for step in steps])
        self.measured = numpy.array([step.measured_ms for step in steps])
        self.families = numpy.array([step.family for step in steps])
        self.trains = numpy.array([step.setup.is_training for step in steps])
        classes = [kind.split(".")[0] for kind in self.kinds]
        self.classes = sorted(set(classes))
        self.of_class = numpy.array([[name == one for one in self.classes] for name in classes])
        there = (self.kernels[~self.trains] @ self.of_class).sum(0)
        self.of_training = (there == 0) & self.trains.any()  # Classes that no inference has.

    def predicted(self, factors):
        return self.idle + self.kernels @ factors

    def fit(self, places):
        def distance(logs):
            logs = logs * self.is_fitted
            us = self.idle[places] + self.kernels[places] @ numpy.exp(logs)
            return numpy.concatenate([numpy.log(us / self.measured[places]), RIDGE * logs])

        lowest = [math.log(LOWEST if kind.split(".")[0] in MOVES_BYTES else 0.05) for kind in self.kinds]
        found = least_squares(distance, numpy.zeros(len(self.kinds)), bounds=(lowest, math.log(20)), loss="soft_l1",
                              f_scale=0.1)
        return numpy.exp(found.x * self.is_fitted)

    def half_widths(self, spent, usual, of_training):
        """Of each step, as profile/step_interval.cpp has it: classes that training alone has have a half width of their own."""
        shares = spent @ self.of_class / spent.sum(1, keepdims=True)
        widths = numpy.where(self.of_training, of_training, usual)
        return numpy.sqrt(COMMON ** 2 + ((shares * widths) ** 2).sum(1) / 4)


def parts_of(families):
    names = sorted(set(families))
    order = numpy.random.default_rng(SEED).permutation(len(names))
    return {names[place]: number % PARTS for number, place in enumerate(order)}


def held_out(table, part):
    """Predictions with factors that saw no step of the part, and what each kind of kernel takes."""
    us, spent = numpy.zeros(len(part)), numpy.zeros(table.kernels.shape)
    for number in range(PARTS):
        out = part == number
        if not out.any():
            continue
        factors = table.fit(numpy.flatnonzero(~out))
        us[out], spent[out] = table.predicted(factors)[out], (table.kernels * factors)[out]
    return us, spent


def width_within(within):
    """The least half width with which nine of ten are within."""
    missing = lambda width: numpy.mean(within(width)) - 0.9
    return 0.02 if missing(0.02) >= 0 else float(f"{brentq(missing, 0.02, 5, xtol=1e-3):.3g}")


def intervals_of(table, us, spent, places):
    """Half widths of the classes that inference has, and of those that training alone has, with which nine of ten of these
    held-out steps are within theirs."""
    error = numpy.abs(numpy.log(us / table.measured))
    infers, trains = (numpy.intersect1d(places, numpy.flatnonzero(table.trains == one)) for one in (False, True))
    usual = width_within(lambda width: error[infers] <= table.half_widths(spent, width, width)[infers])
    if not len(trains):
        return usual, usual
    return usual, width_within(lambda width: error[trains] <= table.half_widths(spent, usual, width)[trains])


def widths_of_others(table, part, us, spent):
    """The interval of each step, from those that others needed: of the parts of families beside its own."""
    widths = numpy.zeros(len(part))
    for number in range(PARTS):
        out = part == number
        widths[out] = table.half_widths(spent, *intervals_of(table, us, spent, numpy.flatnonzero(~out)))[out]
    return widths


def write_times(device, table, factors, usual, of_training):
    sheet = json.loads((ROOT / "devices" / "time" / "data_sheet.json").read_text())["classes"]
    classes, trained = {}, {name for name, alone in zip(table.classes, table.of_training) if alone}
    for kind, factor in zip(table.kinds, factors):
        name, _, part = kind.partition(".")
        like = sheet.get(name) or sheet.get(LIKE.get(name, ""))
        if like is None or kind in NOT_FITTED:
            continue
        entry = classes.setdefault(name, {
            "coefficients": like["coefficients"], "interval": of_training if name in trained else usual, "calibrated": True,
            "floor_is_host": like.get("floor_is_host", False), "factors": {},
            "fitted_on": f"{len(table.steps)} steps of timm's benchmark on this device, seed {SEED}; coefficients of other "
                         "devices"})
        entry["factors"][part] = float(f"{factor:.3g}")
    path = ROOT / "devices" / "time" / f"{device}.json"
    path.write_text(json.dumps({"classes": classes}, indent=1) + "\n")
    spec_path = ROOT / "devices" / f"{device}.json"
    spec = json.loads(spec_path.read_text())
    if "kernel_times" not in spec:
        source = spec.pop("source")
        spec_path.write_text(json.dumps({**spec, "kernel_times": f"time/{device}.json", "source": source}, indent=2) + "\n")


def percent(values):
    return f"{100 * numpy.median(values):.1f} / {100 * numpy.quantile(values, 0.9):.1f}"


def page_of(results, refused):
    lines = [timm_steps.MARK, TEXT, "| steps | models | families | error | data sheet alone | within | ± width |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    worst = []
    for setup, table, us, width, data_sheet in results:
        error = numpy.abs(us / table.measured - 1)
        within = numpy.mean(numpy.abs(numpy.log(us / table.measured)) <= width)
        lines.append(f"| {setup.title} | {len(us)} | {len(set(table.families))} | {percent(error)} | "
                     f"{percent(numpy.abs(data_sheet / table.measured - 1))} | {100 * within:.0f} % | "
                     f"{100 * numpy.median(width):.0f} % |")
        for place in numpy.argsort(-error)[:10]:
            step = table.steps[place]
            spent = table.kernels[place]
            kind = table.kinds[int(numpy.argmax(spent))]
            worst.append(f"| {setup.title} | {step.model} | {step.family} | {step.batch} | {step.measured_ms:.0f} ms | "
                         f"{us[place]:.0f} ms | {100 * (us[place] / step.measured_ms - 1):+.0f} | "
                         f"{kind}, {100 * spent.max() / spent.sum():.0f} % |")
    lines += ["", "The ten that are farthest off in each:", "",
              "| steps | model | family | batch | measured | predicted | error | longest kind of kernel |",
              "| --- | --- | --- | --- | --- | --- | --- | --- |", *worst]
    if refused:
        names = sorted({step.model.partition(",")[0] for _, step in refused})
        lines += ["", f"Not judged, as their files cannot be run with the measured batch: {', '.join(names)}."]
    return "\n".join(lines) + "\n"


TEXT = f"""`scripts/time/fit_timm.py` writes this part: steps of timm's public benchmark under autocast to fp16, layout NCHW, in
the batch that was measured. Training is forward, cross-entropy, backward and SGD with momentum, with PyTorch 1.12 and
attention in single calls; inference is of PyTorch 2.4 (RTX 3090) and 2.9 (RTX 4090). Models are drawn by a hash of their
names; a family is the file of timm that defines a model. Families are dealt into {PARTS} parts with seed {SEED}, and a step
is judged with factors that were fitted on the other parts' steps on the same device, and with the interval that those parts'
held-out steps needed: nine of ten inferences say the half width of their classes of kernels, nine of ten trainings that of
classes which training alone has (batch norm's statistics, the optimizer). *Within* and *± width* are of the step's interval,
*data sheet alone* is without factors.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("exported")
    parser.add_argument("--program", default=ROOT / "build" / "release" / "bin" / "symprof")
    parser.add_argument("--notes", default=ROOT / "scripts" / "time" / "timm_notes.md", help="ends the page's part")
    given = parser.parse_args()
    by_device, refused = {}, []
    for setup in timm_steps.SETUPS:
        for step in timm_steps.steps_of(setup, given.data, given.exported, given.program):
            step.setup = setup
            if "problem" in step.answer:
                refused.append((setup, step))
            else:
                by_device.setdefault(setup.device, []).append(step)
    results = []
    for device, steps in by_device.items():
        table = Table(steps)
        parts = parts_of(table.families)
        part = numpy.array([parts[family] for family in table.families])
        us, spent = held_out(table, part)
        intervals = intervals_of(table, us, spent, numpy.arange(len(steps)))
        factors = table.fit(numpy.arange(len(steps)))
        write_times(device, table, factors, *intervals)
        print(device, {kind: round(float(factor), 2) for kind, factor in zip(table.kinds, factors)}, intervals)
        width = widths_of_others(table, part, us, spent)
        for setup in timm_steps.SETUPS:
            places = [place for place, step in enumerate(steps) if step.setup is setup]
            if places:
                part = Table([steps[place] for place in places])
                sheet = part.predicted(numpy.ones(len(part.kinds)))
                results.append((setup, part, us[places], width[places], sheet))
    notes = pathlib.Path(given.notes)
    text = page_of(results, refused) + ("\n" + notes.read_text() if notes.exists() else "")
    page = ROOT / "docs/evaluation/time_accuracy.md"
    page.write_text(page.read_text().split(timm_steps.MARK)[0] + text)
    print(text)


if __name__ == "__main__":
    main()

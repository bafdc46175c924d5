#!/usr/bin/env python3
"""Allocated memory over a training step, eager and compiled, in one plot (docs/guide/compiled_memory.svg).

Usage: PYTHONPATH=build/release/python .deps/python/bin/python truth/compiled/plot.py [--case gpt-autocast] -o FILE.svg   (matplotlib)

Calls of the two steps differ in number: each phase has the same width, and a call's place in it is its share of the phase.
"""
import argparse
import pathlib
from typing import Any

import symprof  # Before torch.

import compare

PHASES = ("forward", "backward", "optimizer")
WIDTHS = {"forward": 1.0, "backward": 2.0, "optimizer": 0.5}


def profile_of(case: str) -> Any:
    with symprof.simulate(device="h200", name=case, attention="flash") as simulation:
        step = compare.Step(simulation, case)
        for _ in range(3):
            step()
    return simulation.profile


def phase_of(call: dict[str, Any]) -> str:
    phase = str(call["phase"])
    return {"loss": "forward", "recompute": "backward"}.get(phase, phase)


def curve(profile: Any) -> tuple[list[float], list[float]]:
    """Places in the step, and GiB allocated there."""
    by_phase: dict[str, list[float]] = {phase: [] for phase in PHASES}
    for moment in profile.data["timeline"]:
        by_phase[phase_of(profile.calls[moment["call"]])].append(moment["highest"] / 2**30)
    places, values, begin = [], [], 0.0
    for phase, width in WIDTHS.items():
        moments = by_phase[phase]
        places += [begin + width * (i + 0.5) / len(moments) for i in range(len(moments))]
        values += moments
        begin += width
    return places, values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="gpt-autocast", help="model and precision")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "symprof", "font.size": 9, "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.2, 3.2), layout="constrained")
    for option, color in (("eager", "#8c6d31"), ("default", "#1f77b4")):
        places, values = curve(profile_of(f"{options.case}-{option}-foreach"))
        word = "eager" if option == "eager" else "compiled"
        axes.plot(places, values, color=color, linewidth=1.3, label=f"{word}: peak {max(values):.2f} GiB")
    begin = 0.0
    for phase, width in WIDTHS.items():
        axes.axvline(begin, color="#cccccc", linewidth=0.8, zorder=0)
        axes.text(begin + width / 2, -0.06, phase, ha="center", va="top", transform=axes.get_xaxis_transform())
        begin += width
    axes.set(xlim=(0, begin), ylim=(0, None), ylabel="allocated, GiB")
    axes.set_xticks([])
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(options.output, metadata={"Date": None})


if __name__ == "__main__":
    main()

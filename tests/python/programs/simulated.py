"""A program on the simulated device: what symprof's report says of its last step."""
import json
from collections.abc import Callable

import symprof  # Before torch.

from figures import Figures, Marks, restore_switches


def run_simulated(program: Callable[[str, Marks], None], name: str = "") -> Figures:
    marks = Marks()
    try:
        with symprof.simulate(device="h200", name=name) as run:
            program("cuda", marks)
    finally:
        restore_switches()
    totals = run.profile.totals
    figures = Figures(totals["fwd_flops"], totals["bwd_flops"], totals["saved_bytes_with_inputs"], totals["optimizer_bytes"])
    others = json.loads(run.profile.json)["program"]["other_steps"]
    figures.others = sorted((other["fwd_flops"], other["bwd_flops"]) for other in others)
    for call in run.profile.calls:
        if "transfer_bytes" not in call:  # A copy from the host, which a program on the CPU does not make.
            figures.calls[call["op"]] += 1
    figures.results, figures.warnings = marks.results, run.profile.warnings
    return figures

"""symprof: the costs of a deep-learning step on a simulated GPU.

    import symprof
    import torch

    print(symprof.profile("model.pt2", batch=8, optimizer="adamw"))

    with symprof.simulate(device="h200") as run:
        model = Model().cuda()
        ...
    print(run.profile)
"""
from typing import Any

from . import _preload

__version__ = "0.1.0"
_preload.load(__version__)

from ._commands import bisect, compare, dump, measure, restore  # noqa: E402
from ._costs import Cost, cost_rule  # noqa: E402
from ._error import Error  # noqa: E402
from ._files import profile  # noqa: E402
from ._fit import Fit, Formulas  # noqa: E402
from ._given import given  # noqa: E402
from ._memory import MeasuredMemory, Memory, MemoryComparison, memory  # noqa: E402
from ._plans import CheckpointPlan, Costs, ParallelPlan, ThroughputPlan  # noqa: E402
from ._profile import Profile  # noqa: E402
from ._rows import Rows  # noqa: E402
from ._simulate import Run, simulate, step  # noqa: E402

__all__ = ["CheckpointPlan", "Cost", "Costs", "Error", "Fit", "Formulas", "MeasuredMemory", "Memory", "MemoryComparison", "ParallelPlan", "Profile",
           "Rows", "Run", "ThroughputPlan", "bisect", "compare", "cost_rule", "dump", "fit_run", "given", "measure", "memory", "profile", "restore", "simulate", "step",
           "watch"]


def __getattr__(name: str) -> Any:
    """`watch` and `fit_run` need torch, which this package does not import by itself."""
    if name == "fit_run":
        from ._fit_run import fit_run

        return fit_run
    if name == "watch":
        from ._watch import watch

        return watch
    raise AttributeError(f"module 'symprof' has no attribute '{name}'")

"""symprof: what a deep-learning step costs on a GPU that is not there.

    import symprof
    import torch

    print(symprof.profile("model.pt2", batch=8, optimizer="adamw"))

    with symprof.simulate(device="h200") as run:
        model = Model().cuda()
        ...
    print(run.profile)
"""
from . import _preload

_preload.load()

from ._error import Error  # noqa: E402
from ._files import profile  # noqa: E402
from ._profile import Profile  # noqa: E402
from ._simulate import Run, simulate  # noqa: E402

__all__ = ["Error", "Profile", "Run", "profile", "simulate"]
__version__ = "0.1.0"

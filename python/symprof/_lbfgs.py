"""torch.optim.LBFGS reads numbers to decide when a step ends. A tensor without storage returns the values of a continuing
search, so that a step has as many evaluations as `max_iter` and `max_eval` allow (torch/optim/lbfgs.py)."""
import functools
import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_SAID = "L-BFGS: values of the loss decide how many evaluations a step has; as many as max_iter and max_eval allow are taken."


class _Search(TorchFunctionMode):
    """Answers for one step, outside of its closure."""

    def __init__(self, program: Any) -> None:
        super().__init__()
        self._program, self._losses, self._closures = program, itertools.count(1), 0

    def evaluating(self, closure: Callable[[], Any]) -> Callable[[], Any]:
        def evaluate() -> Any:
            self._closures += 1
            try:
                return closure()
            finally:
                self._closures -= 1

        return evaluate

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        answer = _ANSWERS.get(getattr(func, "__name__", ""))
        if not self._closures and answer is not None and self._program.has_no_values(args[0]):
            if answer is not _Search.falling_loss:
                func(*args, **(kwargs or {}))  # The comparison's kernel runs.
            return answer(self, *args[1:])
        kwargs = dict(kwargs or {})
        if isinstance(kwargs.get("alpha"), torch.Tensor):  # `q.add_(old_dirs[i], alpha=-al[i])` reads a number, and decides nothing.
            kwargs["alpha"] = 1
        return func(*args, **kwargs)

    def falling_loss(self) -> float:
        return 1 / next(self._losses)


def _is_less(search: _Search, than: Any) -> bool:
    """No tolerance is reached; the first step of a line search satisfies the Wolfe conditions."""
    return isinstance(than, torch.Tensor)


def _is_greater(search: _Search, than: Any) -> bool:
    """The curvature (y.dot(s) > 1e-10) is positive, the slope (gtd > -tolerance_change) falls."""
    return not isinstance(than, torch.Tensor) and than > 0


_ANSWERS: dict[str, Callable[..., Any]] = {
    "__float__": _Search.falling_loss,
    **dict.fromkeys(("le", "lt", "__le__", "__lt__"), _is_less),
    **dict.fromkeys(("gt", "ge", "__gt__", "__ge__"), _is_greater),
}


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By class and name."""
    of_torch: Any = torch.optim.LBFGS.step

    @functools.wraps(of_torch)  # With the mark of Optimizer's own hooks.
    def step(self: torch.optim.LBFGS, closure: Callable[[], Any]) -> Any:
        if not any(map(program.has_no_values, self._params)):
            return of_torch(self, closure)
        program.warn(_SAID)
        with _Search(program) as search:
            return of_torch(self, search.evaluating(closure))

    return {(torch.optim.LBFGS, "step"): step}

"""A real loop, watched: measured peaks beside the estimate."""
import contextlib
import functools
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from ._error import Error
from ._files import profile
from ._profile import Profile
from ._rows import Rows


class Watch:
    """The result of `watch`. `rows` has a row for each step; `estimate` is symprof's profile of one."""

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer | None, settings: dict[str, Any]) -> None:
        self._model, self._optimizer, self._settings = model, optimizer, settings
        self._call: tuple[Any, Any] | None = None
        self._measured: list[dict[str, int | None]] = []
        self._exits = contextlib.ExitStack()

    def __enter__(self) -> "Watch":
        handle = self._model.register_forward_pre_hook(self._note_call, with_kwargs=True)
        step = register_optimizer_step_post_hook(self._note_step)
        self._exits.callback(handle.remove)
        self._exits.callback(step.remove)
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()
        return self

    def __exit__(self, *error: Any) -> None:
        self._exits.close()

    def _note_call(self, model: Any, args: Any, kwargs: Any) -> None:
        from ._sizes import shapes_of

        if self._call is None:
            self._call = shapes_of((args, kwargs))
            is_on = torch.is_autocast_enabled("cuda")
            self._settings.setdefault("autocast", torch.get_autocast_dtype("cuda") if is_on else None)

    def _note_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._optimizer is not None and optimizer is not self._optimizer:
            return
        row: dict[str, int | None] = {"step": len(self._measured), "peak_allocated_bytes": None, "peak_reserved_bytes": None}
        if torch.cuda.is_available():
            row["peak_allocated_bytes"] = torch.cuda.max_memory_allocated()
            row["peak_reserved_bytes"] = torch.cuda.max_memory_reserved()
            torch.cuda.reset_peak_memory_stats()
        self._measured.append(row)

    @functools.cached_property
    def estimate(self) -> Profile:
        """Of the model's first call, with the optimizer that was watched."""
        if self._call is None:
            raise Error("watch: the model was not called.\n  Give the model that the loop calls.")
        args, kwargs = self._call
        return profile(self._model, *args, kwargs=kwargs, optimizer=self._optimizer, **self._settings)

    @property
    def rows(self) -> Rows:
        """Measured bytes are None without CUDA."""
        totals = self.estimate.totals
        return Rows([{**row, "estimated_allocated_bytes": totals["peak_allocated_bytes"],
                      "estimated_reserved_bytes": totals["peak_reserved_bytes"]} for row in self._measured])

    def __str__(self) -> str:
        lines = [f"{'step':>6} {'allocated':>16} {'estimated':>16} {'reserved':>16} {'estimated':>16}"]
        for row in self.rows:
            cells = [row[name] for name in ("peak_allocated_bytes", "estimated_allocated_bytes", "peak_reserved_bytes",
                                            "estimated_reserved_bytes")]
            lines.append(f"{row['step']:>6} " + " ".join(f"{'not measured' if cell is None else f'{cell:,}':>16}" for cell in cells))
        return "\n".join(lines)


def watch(model: torch.nn.Module, optimizer: torch.optim.Optimizer | None = None, **settings: Any) -> Watch:
    """A block around a real loop: `with symprof.watch(model, optimizer, device="h200") as seen: …`, then `print(seen)`.

    CUDA's own peaks of each step are beside the estimate. Settings are those of symprof.profile."""
    return Watch(model, optimizer, settings)

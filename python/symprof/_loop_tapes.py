"""Loops whose batches differ: each kind of step runs once on the simulated device, and the loop runs from that."""
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from ._simulate import Run


class Pass(NamedTuple):
    """One pass of a loop: forward and backward, or an evaluation."""

    key: Hashable  # Passes of one key ask the allocator for the same blocks.
    ends_window: bool = True  # An update follows, or it is an evaluation: gradients do not add up over it.
    trains: bool = True


class LoopTapes:
    """The recorded passes of a loop (`tapes`), and the order in which the loop uses them; the first is what precedes the loop."""

    def __init__(self, tapes: Any, order: list[int]) -> None:
        self.tapes, self.order = tapes, order

    def play(self, alloc_conf: str = "", device_bytes: int | None = None, fraction: float = 1.0, order: Sequence[int] | None = None) -> Any:
        return self.tapes.play(self.order if order is None else order, alloc_conf, device_bytes, fraction)


def windows_of(passes: Sequence[Pass]) -> list[list[int]]:
    """The passes up to each optimizer update, as lists of indices; the last list may lack its update."""
    windows: list[list[int]] = [[]]
    for i, one in enumerate(passes):
        windows[-1].append(i)
        if one.ends_window:
            windows.append([])
    return [window for window in windows if window]


def record_loop(run: Run, passes: Sequence[Pass], do: Callable[[int], None]) -> Callable[[], LoopTapes]:
    """Simulates a loop by running only what differs. A window is the passes up to an optimizer update (gradient accumulation);
    one whose keys have all been simulated is replayed from their recordings. Windows are simulated whole, as their passes add
    to the same gradients. The first one counts as different from later ones: its update creates the optimizer's states.

    Call this inside the simulation, and the function that it returns after the simulation."""
    index: dict[Hashable, int] = {}
    order = [0]
    ran = 1
    run.end_step()  # What came before the loop.

    def do_all(window: list[int], keys: list[Hashable]) -> None:
        nonlocal ran
        for i, key in zip(window, keys, strict=True):
            do(i)
            run.end_step()
            index.setdefault(key, ran)
            ran += 1

    first_update = True
    last: list[int] = []
    for window in windows_of(passes):
        trains = passes[window[0]].trains
        keys: list[Hashable] = [(first_update and trains, min(position, 1), passes[i].key) for position, i in enumerate(window)]
        if not all(key in index for key in keys):
            do_all(window, keys)
        if trains:
            first_update, last = False, window
        order += [index[key] for key in keys]
    do_all(last, [None for _ in last])  # Shows which blocks of the step before it go.
    return lambda: LoopTapes(run.tapes, order)

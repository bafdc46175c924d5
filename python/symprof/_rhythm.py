"""The rhythm of a training loop: which updates make a step, so that a program can be stopped behind one."""
import functools
from collections.abc import Callable


class Rhythm:
    """Finds the ends of steps. Several optimizers may update within one step. The end is known when the next pass with
    gradients begins; or at once, when the same optimizers have updated as in an earlier step. `step_ended` is called then."""

    def __init__(self, step_ended: Callable[[], None]) -> None:
        self._step_ended = step_ended
        self._steps: set[tuple[int, ...]] = set()  # Optimizers of steps that have ended, in order.
        self._now: list[int] = []
        self._notes: list[Callable[[], None]] | None = None

    def note_into(self, notes: list[Callable[[], None]] | None) -> None:
        """What a CUDA graph captures is done when the graph is replayed; None ends it."""
        self._notes = notes

    def updated(self, optimizer: int, is_within: bool) -> None:
        """`is_within`: a backward pass, or another update, goes on."""
        if self._notes is not None:
            self._notes.append(functools.partial(self.updated, optimizer, is_within))
            return
        self._now.append(optimizer)
        if not is_within:
            self._end_if_known()

    def backward_ended(self) -> None:
        """Optimizers may have stepped in it."""
        if self._notes is not None:
            self._notes.append(self.backward_ended)
            return
        if self._now:
            self._end_if_known()

    def pass_begins(self) -> None:
        """A forward pass with gradients, or backward of one that no module made."""
        if self._notes is not None:
            self._notes.append(self.pass_begins)
            return
        if self._now:
            self._steps.add(tuple(self._now))
            self._now = []
        self._step_ended()

    def _end_if_known(self) -> None:
        if tuple(self._now) in self._steps:
            self._step_ended()

"""What a module reads of its data: numbers (`x.item()`, `if (a < b).all()`), lists and arrays.

Fake tensors have none. The module is run once on real tensors of the host, and what it was told there is told to it again,
in the same order, when it runs on fake ones.
"""
import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode

READING = ("__array__", "tolist")


class Answers(TorchDispatchMode):
    """As a mode, and with `patched()`: answers of the run on real tensors are kept, and told again once `is_recorded`."""

    def __init__(self):
        super().__init__()
        self.numbers, self.structures, self.place, self.is_recorded = [], [], [0, 0], False

    def begin(self, *_):
        """For a hook before the module's forward pass."""
        self.place = [0, 0]

    def next(self, kind, ask):
        known = (self.numbers, self.structures)[kind]
        if not self.is_recorded:
            known.append(ask())
        if self.place[kind] == len(known):
            return ask()  # on the host it was not asked: fake tensors say that they have none
        self.place[kind] += 1
        return known[self.place[kind] - 1]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ask = lambda: func(*args, **(kwargs or {}))
        return self.next(0, ask) if func is torch.ops.aten._local_scalar_dense.default else ask()

    @contextlib.contextmanager
    def patched(self):
        own = {name: getattr(torch.Tensor, name) for name in READING}
        for name, method in own.items():
            setattr(torch.Tensor, name, lambda tensor, *args, method=method: self.next(1, lambda: method(tensor, *args)))
        try:
            yield self
        finally:
            for name, method in own.items():
                setattr(torch.Tensor, name, method)


def of(module, inputs, is_training):
    """What `module` is told; its state afterwards is that of a module that has run."""
    answers = Answers()
    module.train(is_training)
    with torch.no_grad(), answers.patched(), answers:
        module(*inputs)
    answers.is_recorded = True
    return answers

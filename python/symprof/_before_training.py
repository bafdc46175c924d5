"""Shared code of the trainers' callbacks."""
from collections.abc import Callable, Iterable
from typing import Any

import torch

from ._files import profile
from ._fit import Fit


def fit_before_training(
    model: torch.nn.Module, batches: Iterable[Any], call_of: Callable[[Any], dict[str, Any]], **settings: Any
) -> Fit:
    """Of a step on the first of `batches`. Random numbers that drawing it takes are given back."""
    with torch.random.fork_rng():
        batch = next(iter(batches))
    call = call_of(batch)
    was_training = model.training
    try:
        return profile(model, *call.get("args", ()), kwargs=call.get("kwargs"), **settings).fit()
    finally:
        model.train(was_training)

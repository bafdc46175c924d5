"""What the rebuilt programs have in common: models without weights on the simulated device, and what is read of its memory."""
import collections
import contextlib
import time
from collections.abc import Iterator
from typing import Any

import symprof
import torch

MIB = 1 << 20


def materialize(model: torch.nn.Module, reserve_first: bool = False) -> torch.nn.Module:
    """Gives a model that was built on `meta` its tensors on the device; a tied parameter once.

    With `reserve_first` the way of transformers' from_pretrained: one block for all weights is asked for and given back before
    the first weight is made (modeling_utils.py, caching_allocator_warmup).
    """
    made: dict[int, torch.Tensor] = {}
    if reserve_first:
        parameters = {id(p): p.numel() * p.element_size() for p in model.parameters()}
        warm_up = torch.empty(sum(parameters.values()) // 2, dtype=torch.float16, device="cuda")
        del warm_up
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None and parameter.is_meta:
                if id(parameter) not in made:
                    made[id(parameter)] = torch.nn.Parameter(torch.empty_like(parameter, device="cuda"), parameter.requires_grad)
                module._parameters[name] = made[id(parameter)]
        for name, buffer in module._buffers.items():
            if buffer is not None and buffer.is_meta:
                if id(buffer) not in made:
                    made[id(buffer)] = torch.empty_like(buffer, device="cuda")
                module._buffers[name] = made[id(buffer)]
    return model


def first_segment() -> int:
    """What benchmarks do to start CUDA before they read its memory: one number is on the device. Gives the reserved bytes."""
    torch.nn.Linear(1, 1).to("cuda")
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.max_memory_reserved()


class Simulated(contextlib.AbstractContextManager["Simulated"]):
    """A simulation that is read while it runs: nothing is reported of it at its end, which would take as long again."""

    class _Ended(Exception):
        pass

    def __init__(self, device: str, name: str, torch_version: str) -> None:
        self._run = symprof.simulate(device, name=name, alloc_conf=f"torch:{torch_version}")

    def __enter__(self) -> "Simulated":
        self._run.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._run.__exit__(kind or self._Ended, error, trace)


class Watch:
    """CPU seconds by what they were spent on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = collections.defaultdict(float)

    @contextlib.contextmanager
    def on(self, name: str) -> Iterator[None]:
        start = time.process_time()
        try:
            yield
        finally:
            self.seconds[name] += time.process_time() - start


def words_of(config: str) -> dict[str, Any]:
    """'hidden 4096; layers 32; untied' as {'hidden': 4096, 'layers': 32, 'untied': True}."""
    found: dict[str, Any] = {}
    for part in config.replace(",", ";").split(";"):
        words = part.strip().split()
        numbers = [i for i, word in enumerate(words) if word.replace(".", "", 1).isdigit()]
        if not words:
            continue
        if not numbers:
            found[" ".join(words)] = True
        elif numbers[0] == 0:  # "3212749824 parameters", "8 query groups"
            found[" ".join(words[1:])] = float(words[0]) if "." in words[0] else int(words[0])
        else:
            value = words[numbers[0]]
            found[" ".join(words[:numbers[0]])] = float(value) if "." in value else int(value)
    return found

"""Profiles of a torch.nn.Module as an object."""
import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ._error import Error
from ._profile import Profile
from ._simulate import simulate

_optimizers = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-3),
    "sgd_momentum": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9),
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "adagrad": torch.optim.Adagrad,
    "rmsprop": torch.optim.RMSprop,
    "adafactor": torch.optim.Adafactor,
}


def profile_module(
    model: torch.nn.Module,
    *args: Any,
    kwargs: dict[str, Any] | None = None,
    optimizer: str | Callable[[Any], torch.optim.Optimizer] | None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
    autocast: str | torch.dtype | None = None,
    mode: str = "train",
    device: str = "h200",
    **settings: Any,
) -> Profile:
    """The second of two steps of `model(*args, **kwargs)`; the model and its weights stay as they are."""
    with simulate(device=device, mode=mode, name=type(model).__name__, **settings) as run:
        trained = on_device(model).train(mode == "train")
        batch = move(args, run), move(kwargs or {}, run)
        update = _make_optimizer(optimizer, trained) if mode != "inference" else None
        for _ in range(2):
            _step(trained, batch, loss, autocast, update, run)
    return run.profile


def _step(model: Any, batch: Any, loss: Any, autocast: Any, update: Any, run: Any) -> None:
    args, kwargs = batch
    if run.mode == "inference":
        with torch.no_grad(), _autocast(autocast):
            model(*args, **kwargs)
        run.end_step()
        return
    model.zero_grad(set_to_none=True)
    with _autocast(autocast):
        output = model(*args, **kwargs)
        value = loss(output) if loss is not None else getattr(output, "loss", None)
    if value is not None:
        value.backward()
    else:
        outputs = [tensor for tensor in tensors_in(output) if tensor.requires_grad]
        if not outputs:
            raise Error("model: no output needs a gradient.\n  mode=\"inference\" profiles the forward pass alone.")
        torch.autograd.backward(outputs, [torch.ones_like(tensor) for tensor in outputs])
    if update is not None:
        update.step()
    else:
        run.end_step()


def _make_optimizer(optimizer: Any, model: torch.nn.Module) -> torch.optim.Optimizer | None:
    if optimizer is None or callable(optimizer):
        return optimizer and optimizer(model.parameters())
    name, _, variant = optimizer.partition(":")
    if name not in _optimizers:
        raise Error(f"optimizer: found '{optimizer}', wanted one of {', '.join(_optimizers)} or a function of parameters.")
    made = _optimizers[name](model.parameters())
    if variant:
        for group in made.param_groups:
            group["foreach"], group["fused"] = variant == "foreach", variant == "fused"
    return made


def _autocast(dtype: Any) -> contextlib.AbstractContextManager[Any]:
    if dtype is None:
        return contextlib.nullcontext()
    names = {"bf16": torch.bfloat16, "fp16": torch.float16}
    return torch.autocast("cuda", dtype=names.get(dtype, dtype))


def on_device(model: torch.nn.Module) -> torch.nn.Module:
    """A copy of `model` on the simulated device; weights are not read, and may be on `meta`."""
    memo: dict[int, Any] = {}
    for module in model.modules():
        for tensors in (module._parameters, module._buffers, module.__dict__):
            for tensor in tensors.values():
                if isinstance(tensor, torch.Tensor) and id(tensor) not in memo:
                    memo[id(tensor)] = _like(tensor)
    copied = copy.deepcopy(model, memo)
    for module in copied.modules():
        if isinstance(module, torch.nn.RNNBase):
            module.flatten_parameters()  # As when it comes to a device.
    return copied


def _like(tensor: torch.Tensor) -> torch.Tensor:
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cuda")
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(made, requires_grad=tensor.requires_grad)
    return made.requires_grad_(tensor.requires_grad)


def move(value: Any, run: Any) -> Any:
    """Tensors in lists, tuples and dictionaries as inputs on the simulated device; their data are not read."""
    if isinstance(value, torch.Tensor):
        return run.add_input(_like(value))
    if isinstance(value, (list, tuple)):
        moved = [move(entry, run) for entry in value]
        return type(value)(*moved) if hasattr(value, "_fields") else type(value)(moved)
    if isinstance(value, dict):
        return {key: move(entry, run) for key, entry in value.items()}
    return value


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from tensors_in(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from tensors_in(entry)

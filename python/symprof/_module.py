"""Profiles of a torch.nn.Module as an object."""
import contextlib
import copy
import functools
import io
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_leaves

from ._again import Call
from ._error import Error
from ._interrupts import uninterrupted
from ._kernels import of_cpp
from ._optimizers import optimizer_of
from ._parts import flattened
from ._paths import inner_of
from ._profile import Profile
from ._simulate import simulate
from ._sizes import Resizing, copying_tensors_by, has_values, sizes_of


def is_exported(model: Any) -> bool:
    return isinstance(model, torch.export.ExportedProgram)


def written(program: torch.export.ExportedProgram) -> bytes:
    """As torch.export.save writes it."""
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    return buffer.getvalue()


def profile_module(
    model: torch.nn.Module,
    *args: Any,
    kwargs: dict[str, Any] | None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
    **settings: Any,
) -> Profile:
    """The second of two steps of `model(*args, **kwargs)`; the model and its weights stay as they are."""
    if not isinstance(model, torch.nn.Module):
        raise Error(f"profile: found {type(model).__name__}, wanted a file, its bytes, an ExportedProgram or a torch.nn.Module.")
    return profile_call(model, (args, kwargs or {}), loss, type(inner_of(model)).__name__, settings)


def profile_call(model: torch.nn.Module, given: tuple[Any, dict[str, Any]], loss: Callable[[Any], torch.Tensor] | None, name: str,
                 settings: dict[str, Any]) -> Profile:
    """The same of a call's arguments, `given`; `name` is the name in reports."""
    sizes = sizes_of(given)
    call = Call(functools.partial(_run, model, given, loss, name, sizes), sizes, {"device": "h200"}, of_cpp)
    return Profile(*call.profile(settings))


def _run(model: torch.nn.Module, given: Any, loss: Any, name: str, given_sizes: dict[str, int], sizes: dict[str, int],
         settings: dict[str, Any]) -> Any:
    """The native handle of the profile at these sizes, with these settings."""
    texts = dict(settings)
    autocast, passes = texts.pop("autocast", None), int(texts.pop("micro_batches", 1))
    make_optimizer = optimizer_of(texts.pop("optimizer", None), model)
    mode = texts.setdefault("mode", "train")
    with simulate(name=name, **texts) as run, on_device(model) as trained:
        trained.train(mode == "train")
        inputs = OnDevice(run, Resizing(given_sizes, sizes))
        optimizer = make_optimizer(trained) if make_optimizer is not None and mode != "inference" else None
        for _ in range(2):
            # Each pass has structures of its own: a cache that the call fills is empty before the next one.
            batches = (inputs.copy(given) for _ in range(passes))
            _step(trained, batches, loss, autocast, optimizer, run)
    return run.handle


def _step(model: Any, batches: Iterator[Any], loss: Any, autocast: Any, optimizer: Any, run: Any) -> None:
    if run.mode == "inference":
        for args, kwargs in batches:
            with torch.no_grad(), _autocast(autocast):
                model(*args, **kwargs)
        run.end_step()
        return
    model.zero_grad(set_to_none=True)
    for args, kwargs in batches:
        with _autocast(autocast):
            output = model(*args, **kwargs)
            value = loss(output) if loss is not None else getattr(output, "loss", None)
        _backward(output, value)
    if optimizer is not None:
        optimizer.step()
    else:
        run.end_step()


def _backward(output: Any, loss: torch.Tensor | None) -> None:
    if loss is not None:
        torch.autograd.backward(loss)
        return
    outputs = [leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not outputs:
        raise Error("model: no output needs a gradient.\n  mode=\"inference\" profiles the forward pass alone.")
    torch.autograd.backward(outputs, [torch.ones_like(tensor) for tensor in outputs])


def _autocast(dtype: Any) -> contextlib.AbstractContextManager[Any]:
    if dtype is None:
        return contextlib.nullcontext()
    names = {"bf16": torch.bfloat16, "fp16": torch.float16}
    if isinstance(dtype, str) and dtype not in names:
        raise Error(f"autocast: '{dtype}' is not known.\n  It may be: {', '.join(names)}.")
    return torch.autocast("cuda", dtype=names.get(dtype, dtype))


class OnDevice:
    """Tensors on the simulated device in place of others, one for each, however often it is met.

    Data are read only for integers and truth values (ids, masks, lengths): tensors may be on `meta`."""

    def __init__(self, run: Any = None, resizing: Resizing | None = None) -> None:
        self._run, self._resizing = run, resizing
        self._made: dict[int, torch.Tensor] = {}
        self._originals: list[torch.Tensor] = []  # Kept, so that no id is used again.

    def tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self._made:
            self._originals.append(tensor)
            made = self._like(self._resizing.of(tensor) if self._resizing is not None else tensor)
            self._made[id(tensor)] = self._run.add_input(made) if self._run is not None else made
        return self._made[id(tensor)]

    def _like(self, tensor: torch.Tensor) -> torch.Tensor:
        if is_traceable_wrapper_subclass(tensor):
            return self._wrapper_like(tensor)
        made: torch.Tensor = _like(tensor)
        if type(tensor) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer, FakeTensor):
            return made
        kept: torch.Tensor = torch.Tensor._make_subclass(type(tensor), made.detach(), tensor.requires_grad)
        vars(kept).update({name: value if isinstance(value, torch.nn.Module) else self.copy(value)
                           for name, value in vars(tensor).items()})
        return kept

    def _wrapper_like(self, tensor: Any) -> torch.Tensor:
        _, context = tensor.__tensor_flatten__()
        inner = {name: self._like(value) if isinstance(value, torch.Tensor) else value
                 for name, value in flattened(tensor).items()}
        made: torch.Tensor = type(tensor).__tensor_unflatten__(inner, context, tensor.size(), tensor.stride())
        if isinstance(tensor, torch.nn.Parameter):
            return torch.nn.Parameter(made, requires_grad=tensor.requires_grad)
        return made.requires_grad_(tensor.requires_grad)

    def copy(self, value: Any) -> Any:
        """As copy.deepcopy copies it."""
        with copying_tensors_by(lambda tensor, memo: self.tensor(tensor)):
            return copy.deepcopy(value)

    def attribute(self, value: Any) -> Any:
        """Of a module: a tensor, or a container of them."""
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if type(value) in (list, tuple):
            return type(value)(map(self.attribute, value))
        if type(value) is dict:
            return {key: self.attribute(entry) for key, entry in value.items()}
        return value


@contextlib.contextmanager
def on_device(model: torch.nn.Module) -> Iterator[torch.nn.Module]:
    """The model itself, with its tensors on the simulated device while the context is open. Its code may capture it in
    closures, so that a copy would not do. Afterwards it is restored."""
    before = [(table, dict(table)) for module in model.modules() for table in _tables(module)]
    try:
        tensors = OnDevice()
        for table, _ in before:
            table.update({name: tensors.attribute(value) for name, value in table.items() if name not in _OWN_TABLES})
        for module in model.modules():
            if isinstance(module, torch.nn.RNNBase):
                module.flatten_parameters()  # As when it comes to a device.
        yield model
    finally:
        with uninterrupted():
            for table, entries in before:
                table.clear()
                table.update(entries)


_OWN_TABLES = ("_parameters", "_buffers", "_modules")


def _tables(module: torch.nn.Module) -> list[dict[str, Any]]:
    return [module.__dict__, *(module.__dict__[name] for name in _OWN_TABLES)]


def _like(tensor: torch.Tensor) -> torch.Tensor:
    if has_values(tensor):
        return tensor.detach().to("cuda")
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cuda")
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(made, requires_grad=tensor.requires_grad)
    return made.requires_grad_(tensor.requires_grad)

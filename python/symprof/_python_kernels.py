"""Shape functions that PyTorch has only in Python, and those that programs register for their operators.

Results are cached by their inputs (sizes, strides, dtypes, numbers), so a step that repeats a call computes them once.
"""
import re
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._library import fake_impl, utils

from ._error import Error
from ._places import place_of_program

Kernel = Callable[..., Any]
_fake_impl: Any = fake_impl
_MOST_ANSWERS = 4096  # Of one operator.
_NO_ANSWER = object()  # Results that cannot be cached: a view, a storage that is larger than its tensor.
_NO_FAKE = re.compile(r"There was no fake impl registered for <CustomOpDef\((.*?)\)>")
_COMPOSITE = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd")


def has_kernel(op: str) -> bool:
    """Whether the dispatcher has a kernel for a tensor without storage: its own, or one that calls other operators."""
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(op, key) for key in ("Meta", *_COMPOSITE))


def _signature(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.shape, value.stride(), value.dtype, value.is_conj(), value.is_neg()
    if isinstance(value, (list, tuple)):
        return tuple(map(_signature, value))
    return type(value), value


def _is_whole(tensor: torch.Tensor) -> bool:
    """Whether torch.empty_strided would recreate such a tensor."""
    if tensor.numel() == 0:
        return tensor.untyped_storage().nbytes() == 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.storage_offset() == 0 and tensor.untyped_storage().nbytes() == (last + 1) * tensor.element_size()


def _answer(result: Any) -> Any:
    """The recipe to recreate the result of a call."""
    if isinstance(result, (list, tuple)):
        parts = [_answer(part) for part in result]
        return _NO_ANSWER if _NO_ANSWER in parts else (type(result) if type(result) in (list, tuple) else tuple, parts)
    if not isinstance(result, torch.Tensor):
        return (None, result)
    return (torch.Tensor, (result.shape, result.stride(), result.dtype)) if _is_whole(result) else _NO_ANSWER


def _made(answer: Any) -> Any:
    kind, what = answer
    if kind is torch.Tensor:
        shape, stride, dtype = what
        return torch.empty_strided(shape, stride, dtype=dtype, device="meta")
    return what if kind is None else kind(map(_made, what))


def _makes_new_tensors(schema: Any) -> bool:
    return not schema.is_mutable and all(value.alias_info is None for value in schema.returns)


def remembering(op: Any, kernel: Kernel) -> Kernel:
    """`kernel`, of the overload `op`, called once for each signature. A kernel that writes tensors is called each time."""
    if not _makes_new_tensors(op._schema):
        return kernel
    answers: dict[Any, Any] = {}

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            key = _signature(args), _signature(sorted(kwargs.items()))
            known = answers.get(key)
        except TypeError:  # Something that has no hash.
            return kernel(*args, **kwargs)
        if known is not None and known is not _NO_ANSWER:
            return _made(known)
        result = kernel(*args, **kwargs)
        if known is None and len(answers) < _MOST_ANSWERS:
            answers[key] = _answer(result)
        return result

    return call


def _makes_what_it_writes(functional: Any, op: Any) -> bool:
    """Whether an overload has the inputs of `op` without its outputs, and writes nothing."""
    wanted = [(value.name, str(value.type)) for value in op._schema.arguments if not value.is_out]
    found = functional._schema
    return _makes_new_tensors(found) and [(value.name, str(value.type)) for value in found.arguments] == wanted


def _functional_of(op: Any) -> Any:
    packet = op.overloadpacket
    overloads = (getattr(packet, name) for name in packet.overloads())
    return next((other for other in overloads if _makes_what_it_writes(other, op) and has_kernel(other.name())), None)


def _into_outputs(op: Any, functional: Any) -> Kernel:
    names = [value.name for value in op._schema.arguments if value.is_out]

    def call(*args: Any, **kwargs: Any) -> Any:
        outputs = tuple(kwargs.pop(name) for name in names)
        made = functional(*args, **kwargs)
        for output, new in zip(outputs, (made,) if len(names) == 1 else made, strict=True):
            if output.shape != new.shape:
                output.resize_(new.shape)
        return outputs[0] if len(names) == 1 else outputs

    return call


def kernel_of(op: Any, of_python: Kernel) -> Kernel:
    """The kernel for the overload `op`, which has none in C++: an overload with outputs has the shapes of the one that
    returns them, if C++ has that."""
    functional = _functional_of(op) if any(value.is_out for value in op._schema.arguments) else None
    return remembering(op, of_python) if functional is None else _into_outputs(op, functional)


class _Sizes:
    """torch.library.get_ctx() in the fake kernel of an operator whose result's size is data: the most that it can be."""

    def __init__(self, program: Any, name: str, tensors: Iterable[torch.Tensor]) -> None:
        self._program, self._name, self._tensors = program, name, list(tensors)

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:  # noqa: A002
        if max is None:
            max = self._tensors[0].shape[0] if self._tensors and self._tensors[0].dim() else 1  # noqa: A001
            self._program.warn(f"{self._name}: the size of its result depends on data; {max}, the rows of its first tensor, was used.")
        # An upper bound is used, and noted, as for the elements that torch.nonzero finds.
        return int(torch.empty(max, device="meta").nonzero().shape[0])

    create_unbacked_symint = new_dynamic_size


def _name_of(kernel: Any) -> str:
    """The operator's name: torch.library keeps it in its wrapper around a fake kernel (torch/_library/simple_registry.py,
    torch/library.py: _check_pystubs_once)."""
    names = getattr(getattr(kernel, "__code__", None), "co_freevars", ())
    cells = getattr(kernel, "__closure__", None) or ()
    variables = {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}
    return str(variables.get("qualname", kernel.__qualname__))


def _is_on_meta(value: Any) -> bool:
    return type(value) is torch.Tensor and value.is_meta


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By class and name."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = [value for value in (*args, *kwargs.values()) if _is_on_meta(value)]
        if not tensors:
            return self.func(*args, **kwargs)
        try:
            with _fake_impl.set_ctx_getter(lambda: _Sizes(program, _name_of(self.func), tensors)):
                return self.func(*args, **kwargs)
        except RuntimeError as error:
            missing = _NO_FAKE.search(str(error))
            if missing is None:
                raise
            raise Error(f"{missing[1]}: cannot be simulated: it has no fake kernel{place_of_program()}.\n"
                        "  Give it one with torch.library.register_fake: what it makes, without its values.") from None

    return {(utils.Kernel, "__call__"): call}

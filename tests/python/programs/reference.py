"""A program on the CPU, as PyTorch runs it: FLOPs by FlopCounterMode's formulas, calls by a mode of the dispatcher, saved
bytes by `saved_tensors_hooks`."""
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from symprof import _cuda, _lbfgs
from figures import Figures, Marks, restore_switches
from on_a_gpu import DROPOUT, FORMULAS, as_on_a_gpu, native_dropout
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

aten = torch.ops.aten


def unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """Of torch.func's wrappers, what is in them."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor


def storage_of(tensor: torch.Tensor) -> int:
    return unwrapped(tensor).untyped_storage()._cdata


def bytes_of(tensor: torch.Tensor) -> int:
    """A zero of forward AD has a storage of its size, and no memory; Python's complex numbers are on the host."""
    is_number = tensor.dim() == 0 and tensor.dtype == torch.complex128
    return 0 if tensor._is_zerotensor() or is_number else tensor.untyped_storage().nbytes()


def tensors_of(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_iter(tree) if isinstance(leaf, torch.Tensor)]


@contextlib.contextmanager
def own_hooks_refused() -> Iterator[None]:
    """torch.func switches hooks off, and refuses a program's own. Here it refuses those of the program alone."""
    graph: Any = torch.autograd.graph
    disable, enter, leave = (graph.disable_saved_tensors_hooks, graph.saved_tensors_hooks.__enter__,
                             graph.saved_tensors_hooks.__exit__)
    messages: list[str] = []
    hooks: list[Any] = []

    def refuse(message: str) -> None:
        if hooks:
            raise RuntimeError(message)

    @contextlib.contextmanager
    def disabled(message: str) -> Iterator[None]:
        refuse(message)
        messages.append(message)
        try:
            yield
        finally:
            messages.pop()

    def entered(self: Any) -> None:
        if messages:
            raise RuntimeError(messages[-1])
        enter(self)
        hooks.append(self)

    def left(self: Any, *args: object) -> None:
        hooks.pop()
        leave(self, *args)

    graph.disable_saved_tensors_hooks = disabled
    graph.saved_tensors_hooks.__enter__, graph.saved_tensors_hooks.__exit__ = entered, left
    try:
        yield
    finally:
        graph.disable_saved_tensors_hooks = disable
        graph.saved_tensors_hooks.__enter__, graph.saved_tensors_hooks.__exit__ = enter, leave


class Saved:
    """What autograd holds for backward."""

    def __init__(self) -> None:
        self.held: dict[int, list[int]] = {}  # Bytes and number of holders, by storage; of this step.
        self.models: list[torch.nn.Module] = []  # Those that were called.
        self.parameters: set[int] = set()
        self.most = 0
        self.recomputes = False  # A reentrant checkpoint saves in backward what it did not save in forward.

    class Pack:
        def __init__(self, owner: "Saved", tensor: torch.Tensor) -> None:
            # A result with its graph would be held by the node that holds it. Of torch.func's wrappers, only the outermost
            # level's graph is autograd's to put back; their versions are not looked at.
            is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
            self.owner, self.tensor, self.storage = owner, tensor.data if is_wrapped else tensor.detach(), storage_of(tensor)
            self.version = self.tensor._version
            self.is_counted = not owner.recomputes
            self.held = owner.held
            if self.is_counted:
                owner.held.setdefault(self.storage, [bytes_of(unwrapped(tensor)), 0])[1] += 1

        def unpack(self) -> torch.Tensor:
            if self.tensor._version != self.version:  # Hooks are given what autograd alone would refuse.
                raise RuntimeError("a variable needed for gradient computation has been modified by an in-place operation")
            return self.tensor

        def __del__(self) -> None:
            if not self.is_counted:
                return
            holders = self.held[self.storage]
            holders[1] -= 1
            if holders[1] == 0:
                del self.held[self.storage]

    def pack(self, tensor: torch.Tensor) -> Pack:
        pack = self.Pack(self, tensor)
        self.measure()
        return pack

    def measure(self) -> None:
        of_models = self.parameters | {storage_of(buffer) for model in self.models for buffer in model.buffers()}
        self.most = max(self.most, sum(size for storage, (size, _) in self.held.items() if storage not in of_models))

    def begin_step(self) -> None:
        """Here parameters are those of the models; functional_call puts others in their place."""
        self.held, self.most = {}, 0
        self.parameters = {storage_of(parameter) for model in self.models for parameter in model.parameters()}

    def see_model(self, model: torch.nn.Module, inputs: Any) -> None:
        if model not in self.models:
            self.models.append(model)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        of_torch: Any = checkpoint.CheckpointFunction.backward

        def backward(*args: Any) -> Any:
            self.recomputes = True
            try:
                return of_torch(*args)
            finally:
                self.recomputes = False

        graph: Any = torch.autograd.graph
        handle = torch.nn.modules.module.register_module_forward_pre_hook(self.see_model)
        checkpoint.CheckpointFunction.backward = staticmethod(backward)
        try:
            with graph.saved_tensors_hooks(self.pack, self.Pack.unpack), own_hooks_refused():
                yield
        finally:
            checkpoint.CheckpointFunction.backward = staticmethod(of_torch)
            handle.remove()


class Optimizers:
    """Those that have stepped, and their states. Numbers of steps are on the host, unless a kernel reads them."""

    def __init__(self) -> None:
        self.seen: list[torch.optim.Optimizer] = []
        self.updated: dict[int, None] = {}  # Those that stepped since the step began, in order.

    def see(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if all(optimizer is not other for other in self.seen):
            self.seen.append(optimizer)
        self.updated[id(optimizer)] = None

    def states(self, on_host: bool) -> dict[int, int]:
        """Bytes by storage."""
        found = {}
        for optimizer in self.seen:
            on_device = any(group.get("fused") or group.get("capturable") for group in optimizer.param_groups)
            for state in optimizer.state.values():
                for name, value in state.items():
                    is_on_host = name in HOST_STATES and not on_device and not isinstance(optimizer, torch.optim.ASGD)
                    if is_on_host == on_host:
                        found.update({storage_of(tensor): tensor.untyped_storage().nbytes() for tensor in tensors_of(value)})
        return found


HOST_STATES = ("step", "mu_product")  # torch/optim: made by torch.tensor(...) without a device.


def is_of_a_number(function: Any, args: Any, kwargs: Any, given: list[torch.Tensor]) -> bool:
    """Python's numbers are tensors on the host: their conjugates, and the zeros of forward AD beside them."""
    if function._overloadpacket is aten._efficientzerotensor:
        return not args[0] and kwargs["dtype"] in (torch.float64, torch.complex128)
    if function._overloadpacket is aten.to:
        return given[0]._is_zerotensor() and given[0].dim() == 0 and given[0].dtype in (torch.float64, torch.complex128)
    if given:
        return all(tensor.dim() == 0 and tensor.is_complex() for tensor in given)
    return any(isinstance(number, complex) for number in args)


class Reference(Marks, TorchDispatchMode):
    def __init__(self) -> None:
        Marks.__init__(self)
        TorchDispatchMode.__init__(self)
        self.figures = Figures()
        self.saved, self.optimizers = Saved(), Optimizers()
        self.is_in_step = False
        self.kinds: dict[tuple[int, ...], Figures] = {}  # Of steps, by the optimizers that update in them.

    def begin(self) -> None:
        self.figures, self.is_in_step = Figures(), True
        self.saved.begin_step()
        self.optimizers.updated = {}
        self.host = self.optimizers.states(on_host=True)

    def end(self) -> None:
        self.is_in_step = False
        self.figures.saved = self.saved.most
        self.figures.states = sum(self.optimizers.states(on_host=False).values())
        self.kinds[tuple(self.optimizers.updated)] = self.figures
        self.figures.others = sorted((other.forward, other.backward) for other in self.kinds.values()
                                     if other is not self.figures)

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = as_on_a_gpu(function, args, kwargs)
        if self.is_in_step:
            self.count(function, args, kwargs, out)
        return out

    def count(self, function: Any, args: Any, kwargs: Any, out: Any) -> None:
        given = tensors_of((args, kwargs))
        if given and all(tensor.is_meta for tensor in given):
            return  # Of sums with a zero that is no tensor, PyTorch asks a meta kernel for the shape (BinaryOps.cpp).
        if is_of_a_number(function, args, kwargs, given):
            return
        if any(storage_of(tensor) in self.host for tensor in given) and all(tensor.dim() == 0 for tensor in given):
            return  # Optimizers count their steps on the host.
        if function._overloadpacket is aten.to:  # Made of others, which the mode does not see: a zero is made a tensor first.
            self.figures.calls.update(["aten::zeros", "aten::expand"] if given[0]._is_zerotensor() else [])
            return
        self.figures.calls[function._overloadpacket._qualified_op_name] += 1
        if (formula := FORMULAS.get(function._overloadpacket)) is not None:
            flops = formula(*args, **kwargs, out_val=out)
            if torch._C._current_graph_task_id() == -1:
                self.figures.forward += flops
            else:
                self.figures.backward += flops


class Everything:
    """For symprof's own answers to what L-BFGS reads, which say how many evaluations a step has: no tensor has values."""

    def has_no_values(self, tensor: torch.Tensor) -> bool:
        return True

    def warn(self, sentence: str) -> None: ...


def run_on_cpu(program: Callable[[str, Marks], None]) -> Figures:
    reference = Reference()
    handle = register_optimizer_step_post_hook(reference.optimizers.see)
    torch._VF.dropout = native_dropout
    try:
        # oneDNN has recurrent layers that are one call, without formulas.
        with (torch.backends.mkldnn.flags(enabled=False), _cuda.replaced(_lbfgs.answers(Everything())), reference.saved.watched(),
              reference):
            program("cpu", reference)
    finally:
        torch._VF.dropout = DROPOUT
        handle.remove()
        restore_switches()
    reference.figures.results = reference.results
    return reference.figures

"""A program on the CPU, as PyTorch runs it: FLOPs by FlopCounterMode's formulas, calls by a mode of the dispatcher, saved
bytes by `saved_tensors_hooks`."""
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from figures import Figures, Marks, restore_switches
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter
from torch.utils.flop_counter import conv_flop_count, flop_registry, sdpa_backward_flop_count, sdpa_flop_count

aten = torch.ops.aten





def convolution_backward(grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor, *others: Any, **kwargs: Any) -> int:
    """FlopCounterMode's formula for the weight's gradient leaves out groups; it has the FLOPs of the forward pass."""
    transposed, mask, groups = others[4], others[7], others[6]
    of_weight = conv_flop_count(list(x.shape), list(w.shape), list(grad.shape), transposed)
    if groups == 1:
        return flop_registry[aten.convolution_backward](grad, x, w, *others, **kwargs)
    of_input = conv_flop_count(list(grad.shape), list(w.shape), list(x.shape), not transposed)
    return mask[0] * of_input + mask[1] * of_weight


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *others: Any, **kwargs: Any) -> int:
    return sdpa_flop_count(q.shape, k.shape, v.shape)


def attention_backward(grad: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *others: Any,
                       **kwargs: Any) -> int:
    return sdpa_backward_flop_count(grad.shape, q.shape, k.shape, v.shape)


# symprof counts products with a vector, for which FlopCounterMode has no formula (docs/json.md), as for the CPU's attention.
FORMULAS: dict[Any, Callable[..., int]] = {
    **flop_registry,
    aten.convolution_backward: convolution_backward,
    aten.mv: lambda matrix, vector, **kwargs: 2 * matrix.numel(),
    aten.addmv: lambda to, matrix, vector, **kwargs: 2 * matrix.numel(),
    aten._scaled_dot_product_flash_attention_for_cpu: attention,
    aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_backward,
}


def unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """Of torch.func's wrappers, what is in them."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor


def storage_of(tensor: torch.Tensor) -> int:
    return unwrapped(tensor).untyped_storage()._cdata


def tensors_of(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_iter(tree) if isinstance(leaf, torch.Tensor)]


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
            self.owner, self.tensor, self.storage = owner, tensor, storage_of(tensor)
            self.is_counted = not owner.recomputes
            self.held = owner.held
            if self.is_counted:
                owner.held.setdefault(self.storage, [unwrapped(tensor).untyped_storage().nbytes(), 0])[1] += 1

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

        def anything(message: str) -> contextlib.AbstractContextManager[None]:
            return contextlib.nullcontext()

        disable = torch.autograd.graph.disable_saved_tensors_hooks
        handle = torch.nn.modules.module.register_module_forward_pre_hook(self.see_model)
        checkpoint.CheckpointFunction.backward = staticmethod(backward)
        torch.autograd.graph.disable_saved_tensors_hooks = anything  # torch.func, where hooks see wrapped tensors.
        try:
            with torch.autograd.graph.saved_tensors_hooks(self.pack, lambda pack: pack.tensor):
                yield
        finally:
            checkpoint.CheckpointFunction.backward = staticmethod(of_torch)
            torch.autograd.graph.disable_saved_tensors_hooks = disable
            handle.remove()


class Optimizers:
    """Those that have stepped, and their states. Numbers of steps are on the host, unless a kernel reads them."""

    def __init__(self) -> None:
        self.seen: list[torch.optim.Optimizer] = []

    def see(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if all(optimizer is not other for other in self.seen):
            self.seen.append(optimizer)

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


class Reference(Marks, TorchDispatchMode):
    def __init__(self) -> None:
        Marks.__init__(self)
        TorchDispatchMode.__init__(self)
        self.figures = Figures()
        self.saved, self.optimizers = Saved(), Optimizers()
        self.is_in_step = False

    def begin(self) -> None:
        self.figures, self.is_in_step = Figures(), True
        self.saved.begin_step()
        self.host = self.optimizers.states(on_host=True)

    def end(self) -> None:
        self.is_in_step = False
        self.figures.saved = self.saved.most
        self.figures.states = sum(self.optimizers.states(on_host=False).values())

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = function(*args, **kwargs)
        if self.is_in_step:
            self.count(function, args, kwargs, out)
        return out

    def count(self, function: Any, args: Any, kwargs: Any, out: Any) -> None:
        given = tensors_of((args, kwargs))
        if any(storage_of(tensor) in self.host for tensor in given) and all(tensor.dim() == 0 for tensor in given):
            return  # Optimizers count their steps on the host.
        self.figures.calls[function._overloadpacket._qualified_op_name] += 1
        if (formula := FORMULAS.get(function._overloadpacket)) is not None:
            flops = formula(*args, **kwargs, out_val=out)
            if torch._C._current_graph_task_id() == -1:
                self.figures.forward += flops
            else:
                self.figures.backward += flops


def native_dropout(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    """The operator that CUDA takes (`is_fused_kernel_acceptable` in ATen/native/Dropout.cpp); the CPU has it as well."""
    if 0 < p < 1 and input.numel() > 0 and train:
        return torch.native_dropout(input, p, train)[0]
    return DROPOUT(input, p, train)


DROPOUT = torch._VF.dropout


def run_on_cpu(program: Callable[[str, Marks], None]) -> Figures:
    reference = Reference()
    handle = register_optimizer_step_post_hook(reference.optimizers.see)
    torch._VF.dropout = native_dropout
    try:
        # oneDNN has recurrent layers that are one call, without formulas.
        with torch.backends.mkldnn.flags(enabled=False), reference.saved.watched(), reference:
            program("cpu", reference)
    finally:
        torch._VF.dropout = DROPOUT
        handle.remove()
        restore_switches()
    reference.figures.results = reference.results
    return reference.figures

"""A program on the CPU, as PyTorch runs it: FLOPs by FlopCounterMode's formulas, calls by a mode of the dispatcher, saved
bytes by `saved_tensors_hooks`."""
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from symprof import _cuda, _lbfgs
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


def attention_shapes(tensors: list[torch.Tensor], mask: torch.Tensor | None) -> tuple[list[torch.Size], bool]:
    """Of a GPU's kernels, and whether they are fused. Heads lie at multiples of 16 bytes there: the flash kernel's are padded, and
    where it does not run (float32, masks) others make products take its place (sdp_utils.cpp, attention.cpp)."""
    shapes = [tensor.shape for tensor in tensors]
    unit = 16 // tensors[0].element_size()
    if all(shape[-1] % unit == 0 for shape in shapes):
        return shapes, True
    if unit == 4 or mask is not None:
        return shapes, False
    return [torch.Size((*shape[:-1], -(-shape[-1] // unit) * unit)) for shape in shapes], True


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *others: Any, attn_mask: torch.Tensor | None = None,
              **kwargs: Any) -> int:
    return sdpa_flop_count(*attention_shapes([q, k, v], attn_mask)[0])


def attention_backward(grad: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *others: Any,
                       attn_mask: torch.Tensor | None = None, **kwargs: Any) -> int:
    shapes, is_fused = attention_shapes([grad, q, k, v], attn_mask)
    # A fused kernel computes the scores again.
    return sdpa_backward_flop_count(*shapes) if is_fused else 2 * sdpa_flop_count(*shapes[1:])


# symprof counts products with a vector, for which FlopCounterMode has no formula (docs/json.md), as for the CPU's attention.
FORMULAS: dict[Any, Callable[..., int]] = {
    **flop_registry,
    aten.convolution_backward: convolution_backward,
    aten.mv: lambda matrix, vector, **kwargs: 2 * matrix.numel(),
    aten.addmv: lambda to, matrix, vector, **kwargs: 2 * matrix.numel(),
    aten.vdot: lambda one, other, **kwargs: 2 * one.numel(),
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


def bytes_of(tensor: torch.Tensor) -> int:
    """A zero of forward AD has a storage of its size, and no memory."""
    return 0 if tensor._is_zerotensor() else tensor.untyped_storage().nbytes()


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
            self.owner, self.tensor, self.storage = owner, tensor, storage_of(tensor)
            self.version = tensor._version
            self.is_counted = not owner.recomputes
            self.held = owner.held
            if self.is_counted:
                owner.held.setdefault(self.storage, [bytes_of(unwrapped(tensor)), 0])[1] += 1

        def unpack(self) -> torch.Tensor:
            if self.tensor._version != self.version:  # Hooks are given what autograd alone would refuse.
                raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace operation")
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


def as_on_a_gpu(function: Any, args: Any, kwargs: Any) -> Any:
    """The CPU's log_sigmoid keeps exp(-|x|) for its backward; CUDA's gives an empty tensor in its place
    (ATen/native/cuda/ActivationLogSigmoidKernel.cu). A norm's result has the strides of its input on a GPU, not on a CPU."""
    if function == aten.native_batch_norm.default:
        out, *others = function(*args, **kwargs)
        return (torch.empty_like(args[0]).copy_(out), *others)
    if function == aten.log_sigmoid_forward.default:
        out, buffer = function(*args, **kwargs)
        return out, buffer.new_empty(0)
    if function == aten.log_sigmoid_backward.default:
        grad, x, _ = args
        return function(grad, x, (-x.abs()).exp())
    return function(*args, **kwargs)


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


def native_dropout(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    """The operator that CUDA takes (`is_fused_kernel_acceptable` in ATen/native/Dropout.cpp); the CPU has it as well."""
    if 0 < p < 1 and input.numel() > 0 and train:
        return torch.native_dropout(input, p, train)[0]
    return DROPOUT(input, p, train)


DROPOUT = torch._VF.dropout


class Everything:
    """For symprof's own answers to what L-BFGS reads, which say how many evaluations a step has: all tensors are without values."""

    def has_no_values(self, tensor: torch.Tensor) -> bool:
        return True

    def warn(self, sentence: str) -> None: ...


def run_on_cpu(program: Callable[[str, Marks], None]) -> Figures:
    reference = Reference()
    handle = register_optimizer_step_post_hook(reference.optimizers.see)
    torch._VF.dropout = native_dropout
    try:
        # oneDNN has recurrent layers that are one call, without formulas.
        with torch.backends.mkldnn.flags(enabled=False), _cuda.replaced(_lbfgs.answers(Everything())), reference.saved.watched(), reference:
            program("cpu", reference)
    finally:
        torch._VF.dropout = DROPOUT
        handle.remove()
        restore_switches()
    reference.figures.results = reference.results
    return reference.figures

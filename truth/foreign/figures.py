"""What PyTorch says about a module on fake CUDA tensors of an H200; `truth/README.md` has the meaning of each figure.

The outputs may be of any structure; backward starts from ones on each that has a gradient.
"""
import contextlib

import fake_models
import measure
import torch
import tracker
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

# Lists of sizes that code turns into tensors of the host (`torch.tensor(x.shape)`) keep their numbers, as one number does
# by default: code that asks them for sizes runs.
fake_tensor.CONSTANT_NUMEL_LIMIT = 64


def tensors(structure):
    return [leaf for leaf in tree_leaves(structure) if isinstance(leaf, torch.Tensor)]


class Call(torch.nn.Module):
    """`module(*args, **kwargs)` as a module of the tensors among its arguments, each call with structures of its own
    (a cache that the call fills is empty before the next one). `as_tuple`: the tensors among the outputs alone."""

    def __init__(self, module, args, kwargs, as_tuple=False):
        super().__init__()
        self.module, self.as_tuple = module, as_tuple
        leaves, self.structure = tree_flatten((args, kwargs))
        self.inputs = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        self.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]

    def forward(self, *inputs):
        given = iter(inputs)
        leaves = [next(given) if leaf is None else leaf for leaf in self.leaves]
        args, kwargs = tree_unflatten(leaves, self.structure)
        output = self.module(*args, **kwargs)
        return tuple(tensors(output)) if self.as_tuple else output


class Autocast(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        with torch.autocast("cuda", torch.bfloat16):
            return self.module(*inputs)


def saved_bytes(module, inputs, kept=()):
    """Distinct storages of the device that autograd saves, without those of parameters, buffers and inputs, and `kept`, which
    were there before the step. Numbers on the host (a scale, indices that Python made, what a trace computes from sizes) take
    none of the device's memory."""
    owner = measure.owners(module, inputs) | {storage._cdata: "kept" for storage in kept}
    storages = {}

    def pack(tensor):
        if isinstance(tensor, FakeTensor) and tensor.is_cuda:
            storages[measure.storage_key(tensor)] = tensor.untyped_storage()  # kept, so keys stay distinct
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = module(*inputs)
    del output
    return sum(storage.nbytes() for key, storage in storages.items() if key not in owner)


def mv_flops(matrix, _vector, **_):
    """FlopCounterMode has no formula for a matrix times a vector."""
    return 2 * matrix[0] * matrix[1]


# In place of FlopCounterMode's.
FORMULAS = {torch.ops.aten.convolution_backward: measure.convolution_backward_flops, torch.ops.aten.mv: mv_flops}  # type: ignore[attr-defined]  # truth/measure.py, not the folder


def flops(module, inputs):
    forward, backward = measure.flops_by_op(module, inputs, FORMULAS)
    return {"fwd_flops": sum(forward.values()), "bwd_flops": sum(backward.values()),
            "fwd_flops_by_op": forward, "bwd_flops_by_op": backward}


def peak(module, inputs, step, earlier=0):
    """(bytes at the peak of a step after so many earlier ones, the storages that it leaves alive)"""
    constants = [value for part in module.modules() for value in vars(part).values()
                 if isinstance(value, torch.Tensor)]
    watch = tracker.CudaTracker(tracker.holders_of_one())
    return tracker.peak(watch, (module, *inputs, *constants), lambda: step(module, inputs), earlier), watch.storages()


class OneDtype(TorchDispatchMode):
    """Refuses products of two dtypes, as CUDA does; shapes alone do not."""

    PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "convolution", "mv", "dot"}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket.__name__ in self.PRODUCTS:
            dtypes = {str(x.dtype) for x in args if isinstance(x, torch.Tensor)}
            if len(dtypes) > 1:
                raise RuntimeError(f"{func}: operands of {' and '.join(sorted(dtypes))}")
        return func(*args, **(kwargs or {}))


def counts(module, inputs, kept=()):
    with OneDtype():
        measure.training_step(module, inputs)
    return {**flops(module, inputs), "saved_bytes": saved_bytes(module, inputs, kept)}


def uncollected(step):
    def call(module, inputs):
        with measure.uncollected():
            step(module, inputs)

    return call


def of_training(module, inputs):
    counted = counts(module, inputs)
    return {**counted, "peak_bytes": peak(module, inputs, measure.training_step)[0]}


def of_later_training(module, inputs, earlier):
    """What modules keep from one step for the next is there, and is not the step's."""
    peak_bytes, kept = peak(module, inputs, uncollected(measure.training_step), earlier)
    return {**counts(module, inputs, kept), "peak_bytes": peak_bytes}


def of_inference(module, inputs, earlier=0):
    step = uncollected(measure.inference_step) if earlier else measure.inference_step
    return {"peak_bytes": peak(module, inputs, step, earlier)[0]}


@contextlib.contextmanager
def answering_as_cuda():
    """Else torch.autocast switches itself off on a build without CUDA."""
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.cuda.is_bf16_supported = lambda: True
    yield


def hold_frozen_as_buffers(module):
    """MemTracker refuses parameters that are not trained."""
    for part in module.modules():
        for name, parameter in list(part._parameters.items()):
            if parameter is not None and not parameter.requires_grad:
                del part._parameters[name]
                part._buffers[name] = parameter.data


@contextlib.contextmanager
def telling(answers, module):
    """The module is told what `answers` (answers.Answers; may be None) has of it, whenever it runs."""
    if answers is None:
        yield
        return
    module.register_forward_pre_hook(answers.begin)
    with answers.patched(), answers:
        yield


def of(module, inputs, step, earlier=0, answers=None):
    """`step`: fp32, bf16, autocast (training) or inference. `earlier`: how many steps come before that of the peak;
    the module is then one that lives on the device. `answers`: what it reads of its data."""
    mover = fake_models.Mover(torch.bfloat16 if step == "bf16" else None)
    with answering_as_cuda(), FakeTensorMode(allow_non_fake_inputs=False), telling(answers, module):
        mover.module(module)
        if earlier:
            fake_models.flatten_recurrent(module)
        hold_frozen_as_buffers(module)
        inputs = tuple(mover.tensor(x) for x in inputs)
        module.train(step != "inference")
        if step == "inference":
            return of_inference(module, inputs, earlier)
        module = Autocast(module) if step == "autocast" else module
        return of_later_training(module, inputs, earlier) if earlier else of_training(module, inputs)


def of_trace(module, inputs, step):
    """`module` is a TracedProgram."""
    mover = fake_models.Mover(None)
    with answering_as_cuda(), FakeTensorMode(allow_non_fake_inputs=True):  # sizes are real
        mover.module(module)
        hold_frozen_as_buffers(module)
        inputs = tuple(mover.tensor(x) for x in inputs)
        return of_training(Autocast(module) if step == "autocast" else module, inputs)

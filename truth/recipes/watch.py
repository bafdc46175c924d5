"""Watches every call on fake CUDA tensors: its name, and the bytes that are held when it begins."""
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

BLOCK = 512  # bytes; what MemTracker and the caching allocator round up to
# A copy of a handle, and a question of the host: no calls on a device.
NO_CALLS = ("detach", "alias", "_local_scalar_dense", "lift_fresh")


def tensors_of(values):
    return [value for value in tree_leaves(values) if isinstance(value, torch.Tensor)]


aten = torch.ops.aten
# They write into what they are given and make nothing; PyTorch has no shape kernel for them.
UPDATES = (aten._fused_sgd_.default, aten._fused_adagrad_.default,
           aten._amp_foreach_non_finite_check_and_unscale_.default)


class Answers(TorchDispatchMode):
    """What fake tensors cannot tell. A number that the host reads decides values, no sizes: a step
    in host memory is 2, a norm 0, and no gradient is infinite."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is aten._local_scalar_dense.default:
            return 0.0 if args[0].device.type == "cuda" else 2.0
        if func in UPDATES:
            return None
        if func is aten._amp_update_scale_.default:
            return args[0]
        return func(*args, **(kwargs or {}))


# Seed and offset are int64 in host memory outside of graph capture ("Seed and Offset Device" in
# aten/src/ATen/native/transformers/cuda/attention.cu); PyTorch's shape kernel claims the device.
EFFICIENT_ATTENTION = aten._scaled_dot_product_efficient_attention.default
SEED, OFFSET = 2, 3  # among its results


def made_on_device(func, results):
    found = tensors_of(results)
    if func is EFFICIENT_ATTENTION:
        found = [tensor for place, tensor in enumerate(found) if place not in (SEED, OFFSET)]
    return found


class Watch(TorchDispatchMode):
    def __init__(self, existing):
        super().__init__()
        self.storages = {}
        self.phases = {}
        self.peaks = {}
        self.enter_phase("forward")
        for tensor in existing:
            self.note(tensor)

    def enter_phase(self, name):
        self.phase = name
        self.phases.setdefault(name, [])
        self.peaks.setdefault(name, 0)

    def note(self, tensor):
        if tensor.device.type != "cuda":
            return
        storage = tensor.untyped_storage()
        rounded = -(-storage.nbytes() // BLOCK) * BLOCK
        self.storages[storage._cdata] = (weakref.ref(storage), rounded)

    def held(self):
        return sum(size for storage, size in self.storages.values() if storage() is not None)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        before = self.held()
        results = func(*args, **(kwargs or {}))
        for tensor in made_on_device(func, results):
            self.note(tensor)
        name = func._schema.name.removeprefix("aten::")
        on_device = any(t.device.type == "cuda" for t in tensors_of((args, kwargs, results)))
        if on_device and name not in NO_CALLS and not name.startswith("prim"):
            self.phases[self.phase].append([name, before])
        self.peaks[self.phase] = max(self.peaks[self.phase], self.held())
        return results

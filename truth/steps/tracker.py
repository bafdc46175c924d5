"""Peaks of tensor bytes on fake CUDA tensors: MemTracker's own, and what eager CUDA holds.

MemTracker errs in known ways, which `CudaTracker` sets right while it runs; cpu_allocations.py holds the last two to
what PyTorch's profiler says of real tensors on the CPU, where no mode is active:

- A dispatch mode is active, so autograd adds two gradients of one value into a new tensor
  (`can_accumulate_inplace` in torch/csrc/autograd/input_buffer.cpp refuses "subclass-like" tensors).
  Eager CUDA adds into the first one when nothing else holds it or its storage.
- Seed and offset of memory-efficient attention are claimed for the device; outside of graph capture
  they are int64 in host memory ("Seed and Offset Device" in aten/src/ATen/native/transformers/cuda/attention.cu).
- To know which module's backward runs, it asks to be told when all gradients of a module's inputs are there
  (`register_multi_grad_hook` in torch/distributed/_tools/mod_tracker.py), which holds the first ones until the last comes.
- Operators that are made of others leave out what they do in place where a tensor is "subclass-like", as all are under
  a dispatch mode (aten/src/ATen/TensorSubclassLikeUtils.h): `linear` adds its bias to a new tensor where its input is
  not contiguous (aten/src/ATen/native/Linear.cpp), and the backward pass of `gather` adds to a second tensor of zeros
  (`gather_backward` in aten/src/ATen/native/TensorAdvancedIndexing.cpp).
- A mean or sum of a loss lies in the block that was made for all of the loss's numbers (`maybe_get_output().resize_({})`
  in native/BinaryOps.cpp, `mse_loss`); the meta kernels in Python make a block of one number.
- Recurrent layers with the batch first give what they made with time first, transposed (`output.transpose_(0, 1)` in
  native/cudnn/RNN.cpp); the meta kernel in Python makes it contiguous, so that a linear layer behind takes another path.
  PyTorch's CUDA build on a GPU that computes nothing has the strides of RNN.cpp.
- The gradient of a layer norm's input is contiguous, whatever the strides of the gradient that comes in
  (`LEGACY_CONTIGUOUS_MEMORY_FORMAT` in aten/src/ATen/native/cuda/layer_norm_kernel.cu); the meta kernel in Python keeps
  those, so that a linear layer before it makes a copy. The CUDA build has the strides of the kernel there, too.
"""
import contextlib
import functools

import torch
import torch.nn.functional as F
from torch.distributed._tools.mem_tracker import MemTracker

aten = torch.ops.aten
EFFICIENT_ATTENTION = (
    aten._scaled_dot_product_efficient_attention.default,
    aten._efficient_attention_forward.default,
)
SEED, OFFSET = 2, 3  # among its results
REDUCED_IN_PLACE = (aten.mse_loss.default, aten.smooth_l1_loss.default)
REDUCTION = 2  # among their arguments; 0 is none, 1 the mean
BATCH_FIRST, BATCH_SIZES = 10, 14  # among the arguments of _cudnn_rnn; sizes are those of packed sequences
MASK = 7  # among the arguments of native_layer_norm_backward: which gradients are asked for
LINEAR = ((F, "linear"), (aten.linear, "default"))


def holders(tensor):
    """Of the tensor and of its storage, the dispatcher's own and Python's included."""
    return tensor._use_count(), torch._C._storage_Use_Count(tensor.untyped_storage()._cdata)


def is_dense(tensor):
    return torch._prims_common.is_non_overlapping_and_dense_or_false(tensor)


class NoModules:
    """In place of ModTracker: totals need no modules, and so no hooks."""

    parents, is_bw = frozenset({"Global"}), False

    def register_user_hooks(self, *hooks): ...

    def clear_user_hooks(self): ...

    def __enter__(self): ...

    def __exit__(self, *error): ...


class CudaTracker(MemTracker):
    """`holders_of_one`: what `holders` gives in a call of this mode for a value that one variable
    of the engine holds."""

    def __init__(self, holders_of_one):
        super().__init__()
        self._mod_tracker = NoModules()
        self.holders_of_one = holders_of_one
        self.sums_in_place = 0
        self.host_tensors = []  # Kept: their storages must not be taken for others.
        self.in_linear = False
        self.zeros = None  # what the call before has made, if it was zeros
        self.exit = contextlib.ExitStack()

    def __enter__(self):
        for owner, name in LINEAR:
            original = getattr(owner, name)
            setattr(owner, name, self.watched(original))
            self.exit.callback(setattr, owner, name, original)
        return super().__enter__()

    def __exit__(self, *args):
        self.exit.close()
        return super().__exit__(*args)

    def forget_peak(self):
        """What is held now is the peak so far, as on entry."""
        self._peak_mem_snap = self.get_tracker_snapshot()
        self._peak_mem = {device: held["Total"] for device, held in self._peak_mem_snap.items()}

    def storages(self):
        """Of the tensors that are alive, as far as they were seen."""
        return list(self._WINFO)

    def watched(self, linear):
        @functools.wraps(linear)
        def call(*args, **kwargs):
            self.in_linear = True
            try:
                return linear(*args, **kwargs)
            finally:
                self.in_linear = False

        return call

    def is_sum_of_engine(self, func, args, kwargs):
        if func is not aten.add.Tensor or kwargs or len(args) != 2 or torch.is_grad_enabled():
            return False
        if torch._C._current_graph_task_id() == -1 or not isinstance(args[1], torch.Tensor):
            return False
        first, second = args
        return first.shape == second.shape and first.dtype == second.dtype

    def as_on_cuda(self, func, args):
        """The result of a call that CUDA makes in place, into a block that is there, or in another layout; None for other
        calls."""
        if func is aten.scatter_add.default and args[0] is self.zeros and torch._C._current_graph_task_id() != -1:
            return args[0].scatter_add_(*args[1:])
        if self.in_linear and func is aten.add.Tensor:
            return args[0].detach().add_(args[1])
        if func in REDUCED_IN_PLACE and args[REDUCTION:] != (0,):
            return func(*args[:REDUCTION], 0, *args[REDUCTION + 1:]).resize_(())
        if func is aten._cudnn_rnn.default and args[BATCH_FIRST] and not args[BATCH_SIZES]:
            output, *others = func(*args)
            batch, time, width = output.shape
            return output.as_strided(output.shape, (width, batch * width, 1)), *others
        if func is aten.native_layer_norm_backward.default and args[MASK][0]:
            of_input, *others = func(*args)
            strides = torch._prims_common.make_contiguous_strides_for(of_input.shape)
            return of_input.as_strided(of_input.shape, strides), *others
        return None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if self.is_sum_of_engine(func, args, kwargs) and is_dense(args[0]):
            if holders(args[0]) == self.holders_of_one:
                self.sums_in_place += 1
                return args[0].add_(args[1])
        found, self.zeros = self.as_on_cuda(func, args), None
        if found is not None:
            return super().__torch_dispatch__(lambda: found, types)
        if func in EFFICIENT_ATTENTION:
            results = func(*args, **(kwargs or {}))
            for place in (SEED, OFFSET):
                self._WINFO[results[place].untyped_storage()] = (NO_MEMORY, None)
            return super().__torch_dispatch__(lambda: results, types)
        result = super().__torch_dispatch__(func, types, args, kwargs)
        if func is aten.new_zeros.default:
            self.zeros = result
        return result


class HostMemory:
    """In place of MemTracker's record of a storage."""

    size = mem_consumed = 8  # bytes of an int64; MemTracker asks for the former


NO_MEMORY = HostMemory()


class HolderProbe(CudaTracker):
    """Notes the holders of the first gradient in a sum that eager CUDA would make in place."""

    def __init__(self):
        super().__init__(None)
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if self.is_sum_of_engine(func, args, kwargs):
            self.seen.append(holders(args[0]))
        return super().__torch_dispatch__(func, types, args, kwargs)


def holders_of_one():
    """Measured on exp(x) * sin(x), whose two gradients of x have one holder each."""
    x = torch.empty(4, 4, device="cuda", requires_grad=True)
    probe = HolderProbe()
    with probe:
        once = x * 2
        result = once.exp() * once.sin()
        del once
        result.sum().backward()
    (seen,) = probe.seen
    return seen


def peak(tracker, tracked, step, earlier=0):
    """Bytes at the peak of one call of `step`, after so many earlier ones, what those left included."""
    tracker.track_external(*tracked)
    with tracker:
        for _ in range(earlier):
            step()
        if earlier:
            tracker.forget_peak()
        step()
    return tracker.get_tracker_snapshot("peak")[torch.device("cuda", 0)]["Total"]

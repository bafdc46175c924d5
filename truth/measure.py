"""What PyTorch itself says about one module on fake CUDA tensors; truth/README.md has the
meaning of every field. Everything runs under the caller's FakeTensorMode."""
import collections
import contextlib
import gc

import torch
from torch.distributed._tools.mem_tracker import MemTracker
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode, conv_flop_count


class CallCounter(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if not str(func).startswith("prim."):  # prim.device: a question, not a call
            self.calls[str(func).removeprefix("aten.")] += 1
        return func(*args, **(kwargs or {}))


def size(tensor):
    return tensor.numel() * tensor.element_size()


def storage_key(tensor):
    return tensor.untyped_storage()._cdata


def plain(counts):
    return {name: int(count) for name, count in counts.items() if count}


def static_sizes(module, inputs):
    return {
        "param_count": sum(p.numel() for p in module.parameters()),
        "param_bytes": sum(size(p) for p in module.parameters()),
        "buffer_bytes": sum(size(b) for b in module.buffers()),
        "input_bytes": sum(size(x) for x in inputs),
    }


def backward(output):
    """From ones on each tensor of the output, whatever its structure, that has a gradient."""
    outputs = [x for x in tree_leaves(output) if isinstance(x, torch.Tensor) and x.requires_grad]
    torch.autograd.backward(outputs, [torch.ones_like(x) for x in outputs])


def convolution_backward_flops(grad, x, weight, _bias, _stride, _padding, _dilation, transposed,
                               _output_padding, groups, mask, out_shape=None, **_):
    """Each wanted gradient costs what the forward costs, grouped or not."""
    forward = conv_flop_count(x, weight, grad, transposed=transposed)
    return forward * (int(mask[0]) + int(mask[1]))


def flops_by_op(module, inputs, custom_mapping=None):
    """FLOPs of the forward and of the backward pass, each {operator: count}."""
    counter = FlopCounterMode(display=False, custom_mapping=custom_mapping)

    def so_far():
        counts = counter.get_flop_counts().get("Global", {})
        return collections.Counter({str(op).removeprefix("aten."): n for op, n in counts.items()})

    with counter:
        output = module(*inputs)
        forward = so_far()
        backward(output)
        total = so_far()
    module.zero_grad(set_to_none=True)
    return plain(forward), plain(total - forward)


def flops(module, inputs):
    forward, by_counter = flops_by_op(module, inputs)
    mapping = {torch.ops.aten.convolution_backward: convolution_backward_flops}
    _, group_aware = flops_by_op(module, inputs, mapping)
    return {
        "fwd_flops": sum(forward.values()),
        "bwd_flops": sum(group_aware.values()),
        "bwd_flops_flop_counter": sum(by_counter.values()),
        "fwd_flops_by_op": forward,
        "bwd_flops_by_op": group_aware,
    }


def calls(module, inputs):
    counter = CallCounter()
    with counter:
        output = module(*inputs)
        forward = counter.calls.copy()
        backward(output)
    module.zero_grad(set_to_none=True)
    back = counter.calls - forward
    return {
        "output_shape": list(output.shape),
        "output_bytes": size(output),
        "fwd_calls": forward.total(),
        "bwd_calls": back.total(),
        "fwd_calls_by_op": plain(forward),
        "bwd_calls_by_op": plain(back),
    }


def owners(module, inputs):
    """{storage: what it belongs to} of what exists before the step."""
    found = {storage_key(x): "input" for x in inputs}
    found.update({storage_key(b): "buffer" for b in module.buffers()})
    found.update({storage_key(p): "param" for p in module.parameters()})
    return found


def saved(module, inputs):
    """Distinct storages that autograd saves, by what they belong to."""
    owner = owners(module, inputs)
    storages = {}

    def pack(tensor):
        storages[storage_key(tensor)] = tensor.untyped_storage()  # kept, so keys stay distinct
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = module(*inputs)
    bytes_of, count = collections.Counter(), 0
    for key, storage in storages.items():
        bytes_of[owner.get(key, "activation")] += storage.nbytes()
        count += key not in owner
    return {
        "saved_bytes": bytes_of["activation"],
        "saved_storages": count,
        "saved_input_bytes": bytes_of["input"],
        "saved_buffer_bytes": bytes_of["buffer"],
        "saved_param_bytes": bytes_of["param"],
        "saved_includes_output": storage_key(output) in storages,
        "saved_bytes_by_node": saved_by_node(output, owner),
    }


def saved_tensors(node):
    for name in dir(node):
        if not name.startswith("_saved_") and name != "saved_tensors":
            continue
        try:
            value = getattr(node, name)
        except RuntimeError:  # an optional tensor that was not saved
            continue
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, torch.Tensor):
                yield item


def saved_by_node(output, owner):
    """Bytes by kind of autograd node; a storage belongs to the first node met from the output."""
    found, kept, seen = collections.Counter(), {}, set()
    queue = collections.deque([output.grad_fn])
    while queue:
        node = queue.popleft()
        if node is None or node in seen:
            continue
        seen.add(node)
        for tensor in saved_tensors(node):
            key = storage_key(tensor)
            if key not in owner and key not in kept:
                kept[key] = tensor
                found[node.name()] += tensor.untyped_storage().nbytes()
        queue.extend(next_node for next_node, _ in node.next_functions)
    return plain(found)


def tracked_peak(module, inputs, step, optimizer=None):
    """MemTracker's peak over one call of `step`, in bytes by kind."""
    tracker = MemTracker()
    tracker.track_external(module, *((optimizer,) if optimizer else ()), *inputs)
    with tracker:
        step()
    snapshot = tracker.get_tracker_snapshot("peak")[torch.device("cuda", 0)]
    return {str(kind).split(".")[-1].lower(): int(n) for kind, n in snapshot.items() if n}


def training_step(module, inputs, optimizer=None):
    output = module(*inputs)
    backward(output)
    del output
    if optimizer:
        optimizer.step()
    module.zero_grad(set_to_none=True)


def inference_step(module, inputs):
    with torch.no_grad():
        module(*inputs)


@contextlib.contextmanager
def uncollected():
    """Python's garbage collector runs before, and rests inside: when it comes depends on how many objects Python makes, so on
    who watches. What is in a cycle of references then lives until the step is over."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def make_states(module, optimizer):
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    module.zero_grad(set_to_none=True)


def peaks(module, inputs, with_optimizers):
    """Peak bytes of one step; the optimizers have their states from an earlier step."""
    found = {
        "inference": tracked_peak(module, inputs, lambda: inference_step(module, inputs)),
        "forward_backward": tracked_peak(module, inputs, lambda: training_step(module, inputs)),
    }
    optimizers = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
        "adamw_single": lambda p: torch.optim.AdamW(p, foreach=False),
        "adamw_foreach": lambda p: torch.optim.AdamW(p, foreach=True),
        "adamw_fused": lambda p: torch.optim.AdamW(p, fused=True),
    }
    for name, make in optimizers.items() if with_optimizers else ():
        optimizer = make(module.parameters())
        make_states(module, optimizer)
        step = lambda: training_step(module, inputs, optimizer)
        found[name] = tracked_peak(module, inputs, step, optimizer)
    return {
        "peak_bytes": {name: parts["total"] for name, parts in found.items()},
        "peak_parts_bytes": found,
    }


def measure(module, inputs, with_optimizers=True):
    return {
        **static_sizes(module, inputs),
        **calls(module, inputs),
        **flops(module, inputs),
        **saved(module, inputs),
        **peaks(module, inputs, with_optimizers),
    }

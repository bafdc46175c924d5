"""One training step of a case."""
import contextlib
import functools

import torch
from torch.utils.checkpoint import checkpoint

from .models import MODELS

OPTIMIZERS = {
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9),
    "adam_single": lambda p: torch.optim.Adam(p, lr=1e-4, foreach=False),
    "adam_foreach": lambda p: torch.optim.Adam(p, lr=1e-4, foreach=True),
    "adam_fused": lambda p: torch.optim.Adam(p, lr=1e-4, fused=True),
}


def checkpoint_blocks(task, classes):
    """How many blocks now run under torch.utils.checkpoint, not reentrant."""
    blocks = [m for m in task.modules() if type(m).__name__ in classes]
    for block in blocks:
        block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
    return len(blocks)


def build(case, small):
    """On the CPU: the time of this is not the GPU's."""
    torch.manual_seed(0)
    model = MODELS[case.model]
    task = model.build(small)
    task.train(case.step != "forward")
    blocks = checkpoint_blocks(task, model.blocks) if case.checkpoint else 0
    if case.checkpoint and not blocks:
        raise RuntimeError(f"{case.model}: found no block of class {', '.join(model.blocks)}")
    if case.dtype == "bf16":
        task.to(torch.bfloat16)
    return task, blocks


def make_inputs(case, small, batch, device):
    torch.manual_seed(1)
    dtype = torch.bfloat16 if case.dtype == "bf16" else torch.float32
    made = MODELS[case.model].inputs(small, batch)
    return tuple(x.to(device, dtype if x.is_floating_point() else None) for x in made)


def run_step(case, task, inputs, optimizer, mark=lambda name: None):
    """One step; the loss lives to the end of it, gradients are dropped at its end."""
    with contextlib.ExitStack() as stack:
        if case.step == "forward":
            stack.enter_context(torch.no_grad())
        if case.dtype == "autocast":
            stack.enter_context(torch.autocast(inputs[0].device.type, torch.bfloat16))
        loss = task(*inputs)
    mark("forward")
    if case.step == "forward":
        return
    loss.backward()
    mark("backward")
    if optimizer:
        optimizer.step()
        mark("optimizer")
    task.zero_grad(set_to_none=True)


def warm_up_batches(case, small):
    """Batches of the steps before the first of the two steps: other shapes leave holes."""
    if case.variant != "fragmented":
        return ()
    batch = 2 if small else case.batch
    return max(1, batch // 2), batch + max(1, batch // 3), max(1, batch // 3)

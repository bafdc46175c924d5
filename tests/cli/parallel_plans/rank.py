"""One rank of a step: executes an emitted plan on gloo, and compares loss and gradients with the whole step."""
import collections
import importlib.util
import json
import os
import traceback

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

import decoder


class Counter(TorchDispatchMode):
    """Collectives below autograd."""

    def __init__(self):
        super().__init__()
        self.counts = collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace in ("c10d", "_c10d_functional", "c10d_functional"):
            self.counts[func._schema.name.split("::")[1]] += 1
        return func(*args, **(kwargs or {}))


def load(path):
    spec = importlib.util.spec_from_file_location("plan", path)
    plan = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plan)
    return plan


def make_model():
    return decoder.make_model(int(os.environ["EXPERTS"]))


def whole_step():
    model = make_model()
    inputs, targets = decoder.make_batch()
    loss = decoder.loss_function(model(inputs), targets)
    loss.backward()
    return loss.detach(), {name: parameter.grad for name, parameter in model.named_parameters()}


def gradients_of(modules):
    for module in modules:
        for name, parameter in module.named_parameters():
            gradient = parameter.grad
            if isinstance(gradient, DTensor):
                gradient = gradient.full_tensor()
            yield name.replace("module.", ""), gradient


def run(plan, mesh):
    model = make_model()
    inputs, targets = decoder.make_batch()
    inputs, targets = plan.local_share(inputs, mesh), plan.local_share(targets, mesh)
    if plan.PIPELINE > 1:
        example = (inputs.chunk(plan.MICROBATCHES)[0],)
        stages = plan.apply_plan(model, mesh, decoder.loss_function, example)
        return plan.run_step(stages, (inputs,), targets), stages.modules, None
    model = plan.apply_plan(model, mesh)
    plan.run_step(model, decoder.loss_function, (inputs,), targets)  # DDP rebuilds its buckets after the first step.
    model.zero_grad()
    with Counter() as counter:
        loss = plan.run_step(model, decoder.loss_function, (inputs,), targets)
    return loss, [model], counter.counts


def compare(path, results):
    """Rank 0 writes what it found to the file `results`."""
    torch.set_num_threads(1)
    plan = load(path)
    mesh = plan.make_mesh("cpu")
    loss, modules, counts = run(plan, mesh)
    expected_loss, expected = whole_step()
    worst = torch.zeros((), dtype=torch.float64)
    seen = torch.zeros(len(expected))
    for name, gradient in gradients_of(modules):
        seen[list(expected).index(name)] = 1
        worst = torch.maximum(worst, (gradient - expected[name]).abs().max())
    # The loss is the mean over data ranks, on the last stage alone.
    total = torch.tensor([0.0 if loss is None else float(loss), 0.0 if loss is None else 1.0], dtype=torch.float64)
    dist.all_reduce(total)
    dist.all_reduce(worst, op=dist.ReduceOp.MAX)
    dist.all_reduce(seen, op=dist.ReduceOp.MAX)
    if dist.get_rank() == 0:
        with open(results, "w") as file:
            json.dump({"loss": abs(float(total[0] / total[1] - expected_loss)), "gradients": float(worst),
                       "missing": int(len(expected) - seen.sum()), "collectives": counts}, file)
    dist.barrier()


def run_rank(rank, environment, path, results):
    """In a process of its own, which ends here: threads of gloo may be at work still."""
    os.environ.update(environment, RANK=str(rank), LOCAL_RANK=str(rank))
    result = 1
    try:
        compare(path, results)
        result = 0
    except BaseException:
        traceback.print_exc()
    os._exit(result)

#!/usr/bin/env python3
"""How long the policy of a selective checkpoint keeps the host, beside the calls that it is asked about.

  python policy_time.py CUDA_PYTHON CUDA_INCLUDE [PLAN ...]

PLAN is a name in ../measured/plans. Forward and backward passes of its unchanged model run on the GPU that computes nothing of
../launches/fakes.py, so that all of their time is the host's: without a plan, with the plan's regions whole (no policy), and with
the plan. Times are CPU time of all threads, the least of twelve; calls are counted below autograd. For each pass: a call without a plan, what a policy
adds to each call of a region that has one, and their ratio."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "steps"), str(HERE.parent / "h200"), str(HERE.parent / "launches"), str(HERE.parent / "measured")]
REPEATS = 12
VIEW_SHARE = 0.25  # Of a call, as profile/step_run.cpp has it.


def contexts(kept):
    """As files of `symprof plan checkpoint --format python` have it."""
    import collections
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

    def make():
        count = collections.Counter()

        def policy(ctx, op, *args, **kwargs):
            name = op._schema.name
            index = count[ctx.is_recompute, name]
            count[ctx.is_recompute, name] += 1
            return CheckpointPolicy.MUST_SAVE if (name, index) in kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    return make


def counting():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        calls = views = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            aliases = [result.alias_info for result in func._schema.returns]
            Counting.calls += 1
            Counting.views += any(alias is not None and not alias.is_write for alias in aliases)
            return func(*args, **(kwargs or {}))

    return Counting


def apply(task, regions, with_policy):
    from torch.distributed._composable import checkpoint

    for region in regions:
        kept = set()
        for call in region.get("keep", ()) if with_policy else ():
            op, index = call.rsplit("#", 1)
            kept.add((op, int(index)))
        checkpoint(task.get_submodule(region["modules"][0]), **({"context_fn": contexts(kept)} if kept else {}))


def step(task, inputs, autocast):
    import torch

    begin = time.process_time()
    with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
        loss = task(*inputs)
    middle = time.process_time()
    loss.backward()
    end = time.process_time()
    task.zero_grad()
    return (middle - begin) * 1e6, (end - middle) * 1e6


def calls_of_policies(task, regions, inputs):
    """Of one forward pass, in the regions that have a policy: what is recomputed is about the same calls."""
    Counting = counting()
    running = []

    def enter(module, args):
        running.append(Counting())
        running[-1].__enter__()

    def leave(module, args, output):
        running.pop().__exit__(None, None, None)

    hooks = []
    for region in regions:
        if region.get("keep"):
            module = task.get_submodule(region["modules"][0])
            hooks += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
    task(*inputs)
    for hook in hooks:
        hook.remove()
    return Counting.calls


def run_one(plan_name):
    import real_allocator as real
    import torch
    from planned_steps import CASES, PLANS

    name = plan_name.rpartition("-")[0]
    model, dtype, _, _ = CASES[name]
    regions = json.loads((PLANS / f"{plan_name}.json").read_text())["regions"]
    times, of_policies = {}, 0
    for kind in ("plain", "whole", "plan"):
        task, make_inputs = real.build(model)
        if dtype == "bf16":
            task.bfloat16()
        inputs = make_inputs()
        autocast = dtype == "autocast"
        if kind == "plain":
            with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
                of_policies = calls_of_policies(task, regions, inputs)
            with torch.autocast("cuda", torch.bfloat16, enabled=autocast), counting()() as counted:
                task(*inputs)
        else:
            apply(task, regions, kind == "plan")
        for _ in range(3):
            step(task, inputs, autocast)
        times[kind] = [step(task, inputs, autocast) for _ in range(REPEATS)]
        del task, inputs
    forward, backward = ({kind: min(step[at] for step in steps) for kind, steps in times.items()} for at in (0, 1))
    call_us = forward["plain"] / (counted.calls - counted.views + VIEW_SHARE * counted.views)
    policy_us = (forward["plan"] - forward["whole"]) / of_policies
    print(json.dumps({"plan": plan_name, "torch": torch.__version__, "calls": counted.calls, "views": counted.views, "calls_with_policy": of_policies,
                      "forward_us": forward, "backward_us": backward, "call_us": call_us, "policy_us": policy_us, "ratio": policy_us / call_us}), flush=True)
    os._exit(0)  # The driver that is none does not outlive its threads.


def main():
    if sys.argv[1:2] == ["--one"]:
        run_one(sys.argv[2])
        return
    import fakes

    cuda_python, include, *names = sys.argv[1:]
    from planned_steps import CASES, plans_of
    with tempfile.TemporaryDirectory() as folder:
        environment = fakes.environment_of(cuda_python, include, folder)
        for name in names or [plan for case in CASES for plan in plans_of(case) if plan]:
            subprocess.run([cuda_python, __file__, "--one", name], env=environment, check=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compiled steps in symprof's simulation beside records of PyTorch's CUDA build (records/, extract.py).

    PYTHONPATH=build/release/python .deps/python/bin/python truth/compiled/compare.py [CASE ...]      # mlp-autocast-default-foreach
    … compare.py --all        # each in a process of its own
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import time
import warnings

import symprof  # Before torch.

import torch

import models

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = HERE / "records"
STEPS = 3
NAME_LENGTH = 100  # From there on the recorder cuts names.
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")
# Which options the cases name: settings of torch.compile, of its modules, and of the model.
OPTIONS = {
    "default": {},
    "dynamic": {"compile": {"dynamic": True}},
    "reduce_overhead": {"compile": {"mode": "reduce-overhead"}},
    "budget_0": {"functorch": {"activation_memory_budget": 0.0}},
    "budget_0.2": {"functorch": {"activation_memory_budget": 0.2}},
    "budget_0.5": {"functorch": {"activation_memory_budget": 0.5}},
    "checkpoint": {"checkpoint": True},
    "regional": {"regional": True},
    "no_donation": {"functorch": {"donated_buffer": False}},
    "fallback_random": {"inductor": {"fallback_random": True}},
    "no_layout": {"inductor": {"layout_optimization": False}},
    "force_pad": {"inductor": {"force_shape_pad": True}},
    "no_padding": {"inductor": {"shape_padding": False, "comprehensive_padding": False}},
}


def set_configs(option):
    import torch._functorch.config
    import torch._inductor.config

    for owner, key in ((torch._functorch.config, "functorch"), (torch._inductor.config, "inductor")):
        for name, value in option.get(key, {}).items():
            setattr(owner, name, value)


def made(model, dtype):
    build, make_inputs = models.MODELS[model]
    with torch.device("cuda"):
        network = build().train()
    if dtype != "bf16":
        return network, make_inputs
    return network.bfloat16(), lambda: tuple(x.bfloat16() if x.is_floating_point() else x for x in make_inputs())


def compiled(network, option):
    if option.get("regional"):
        for block in models.blocks_of(network):
            block.compile()
        return network
    return torch.compile(network, **option.get("compile", {}))


def optimizer_of(name, parameters):
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)
    return torch.optim.AdamW(parameters, lr=1e-3, fused=True if name == "fused" else None)


def run(case):
    """The last of some steps: figures as a record has them."""
    model, dtype, name, optimizer_name, *more = case.split("-")
    option, found = OPTIONS[name], {"seconds": time.process_time()}
    device = "a100-80g" if "a100" in more else "h200"
    with symprof.simulate(device=device, name=case, attention=None if "cudnn" in more else "flash") as simulation:
        network, make_inputs = made(model, dtype)
        for module in network.modules():
            if option.get("checkpoint") and isinstance(module, models.Blocks):
                module.is_checkpointed = True
        set_configs(option)
        call = compiled(network, option)
        optimizer = optimizer_of(optimizer_name, network.parameters())
        update = torch.compile(optimizer.step) if optimizer_name == "compiled" else optimizer.step
        inputs = tuple(simulation.add_input(x) for x in make_inputs())
        for _ in range(STEPS):
            loss, found["peak"] = None, {}

            def phase(key, function):
                torch.cuda.reset_peak_memory_stats()
                result = function()
                found["peak"][key] = torch.cuda.max_memory_allocated()
                return result

            def forward():
                with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "autocast"):
                    return call(*inputs)

            loss = phase("forward", forward)
            phase("backward", loss.backward)
            update()
            optimizer.zero_grad(set_to_none=True)
    found["seconds"] = round(time.process_time() - found["seconds"], 1)
    return {**found, **figures(simulation.profile)}


def figures(profile):
    kernels = collections.defaultdict(list)
    for call in profile.calls:
        if call["op"].startswith("triton::") or call["op"] in PRODUCTS:
            phase = "backward" if call["phase"] in ("backward", "recompute") else call["phase"]
            kernels[phase].append(call["op"].removeprefix("triton::"))
    totals = profile.totals
    return {"saved_bytes": totals["saved_bytes"], "kernels": dict(kernels), "peak_reserved": totals["peak_reserved_bytes"],
            "requested_peak": profile.data["memory"].get("requested_at_peak_bytes"), "warnings": profile.warnings}


def is_same(ours, theirs):
    return len(ours) == len(theirs) and all(a == b or len(b) >= NAME_LENGTH and a.startswith(b) for a, b in zip(ours, theirs))


def row(case):
    record, found = json.loads((RECORDS / f"{case}.json").read_text()), run(case)
    kernels = [is_same(found["kernels"].get(phase, []), record["kernels"][phase]) for phase in ("forward", "backward")]
    counts = [sum(len(of.get(phase, [])) for phase in ("forward", "backward")) for of in (found["kernels"], record["kernels"])]
    ours, theirs = max(found["peak"].values()), max(record["peak"].values())
    return {"case": case, "saved": found["saved_bytes"], "saved_difference": found["saved_bytes"] - record["saved_bytes"],
            "kernels": counts[0], "kernels_theirs": counts[1], "same_kernels": all(kernels), "peak_percent": 100 * (ours / theirs - 1),
            "reserved_percent": 100 * (found["peak_reserved"] / record["peak_reserved"] - 1), "seconds": found["seconds"],
            "warnings": [warning for warning in found["warnings"] if "torch.compile" in warning]}


HEADER = f"{'case':<40} {'saved bytes':>14} {'difference':>11} {'kernels':>9} {'in order':>8} {'peak':>8} {'reserved':>9} {'CPU s':>6}"


def line(row):
    return (f"{row['case']:<40} {row['saved']:>14,} {row['saved_difference']:>+11,} {row['kernels']:>4}/{row['kernels_theirs']:<4} "
            f"{'yes' if row['same_kernels'] else 'no':>8} {row['peak_percent']:>+7.2f}% {row['reserved_percent']:>+8.2f}% {row['seconds']:>6}")


def cases_of(arguments):
    if not arguments.all:
        return arguments.cases
    known = [path.stem for path in sorted(RECORDS.glob("*.json"))]
    return [case for case in known if case.split("-")[2] in OPTIONS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for case in cases_of(arguments):
        if arguments.all:
            done = subprocess.run([sys.executable, __file__, "--json", case], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{case:<40} failed: {done.stderr.strip().splitlines()[-1][:120]}", flush=True)
                continue
            rows.append(json.loads(done.stdout.splitlines()[-1]))
        else:
            rows.append(row(case))
        if arguments.json:
            print(json.dumps(rows[-1]))
            continue
        print(*([HEADER] if len(rows) == 1 else []), line(rows[-1]), *(f"    {warning}" for warning in rows[-1]["warnings"]), sep="\n", flush=True)
    if not arguments.json:
        print(f"{len(rows)} cases: saved equal {sum(not each['saved_difference'] for each in rows)}, kernels equal in number and order "
              f"{sum(each['same_kernels'] for each in rows)}, peak within 0.5 % {sum(abs(each['peak_percent']) <= 0.5 for each in rows)}")


if __name__ == "__main__":
    main()

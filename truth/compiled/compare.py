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
import tempfile
import time
import warnings

import symprof  # Before torch.

import torch

import models

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))
import device  # noqa: E402

RECORDS = HERE / "records"
WARM_STEPS = 4  # As the recorder has them; then the step that counts, and two more after the cache was emptied.
NAME_LENGTH = 100  # From there on the recorder cuts names.
PHASES = ("forward", "backward")
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")
# Which options the cases name: settings of torch.compile, of its modules, and of the model.
OPTIONS = {
    "eager": {"eager": True},
    "eager_accumulate": {"eager": True, "accumulate": True},
    "eager_checkpoint": {"eager": True, "checkpoint": True},
    "default": {},
    "compiled_autograd": {"dynamo": {"compiled_autograd": True}},
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
    import torch._dynamo.config
    import torch._functorch.config
    import torch._inductor.config

    owners = {"dynamo": torch._dynamo.config, "functorch": torch._functorch.config, "inductor": torch._inductor.config}
    for key, owner in owners.items():
        for name, value in option.get(key, {}).items():
            setattr(owner, name, value)


def compiled(network, option):
    if option.get("regional"):
        for block in models.blocks_of(network):
            block.compile()
    if option.get("regional") or option.get("eager"):
        return network
    return torch.compile(network, **option.get("compile", {}))


def optimizer_of(name, parameters):
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)
    return torch.optim.AdamW(parameters, lr=1e-3, **{"fused": {"fused": True}, "foreach": {"foreach": True}}.get(name, {}))


class Step:
    """A training step as the recorder ran it: the same tensors in the same order."""

    def __init__(self, simulation, case):
        model, self.dtype, name, optimizer_name, *_ = case.split("-")
        self.option = OPTIONS[name]
        self.network, make_inputs = models.make(model, self.dtype)
        for module in self.network.modules():
            if self.option.get("checkpoint") and isinstance(module, models.Blocks):
                module.is_checkpointed = True
        set_configs(self.option)
        self.call = compiled(self.network, self.option)
        self.optimizer = optimizer_of(optimizer_name, list(self.network.parameters()))
        self.update = torch.compile(self.optimizer.step) if optimizer_name == "compiled" else self.optimizer.step
        self.inputs = tuple(simulation.add_input(x) for x in make_inputs())

    def forward(self):
        with torch.autocast("cuda", torch.bfloat16, enabled=self.dtype == "autocast"):
            return self.call(*self.inputs)

    def __call__(self):
        """Peaks of its phases."""
        torch.compiler.cudagraph_mark_step_begin()
        found = collections.defaultdict(dict)

        def phase(key, function):
            torch.cuda.reset_peak_memory_stats()
            result = function()
            found["peak"][key] = torch.cuda.max_memory_allocated()
            found["requested"][key] = torch.cuda.memory_stats().get("requested_bytes.all.peak", 0)
            found["reserved"][key] = torch.cuda.max_memory_reserved()
            return result

        if self.option.get("accumulate"):
            self.forward().backward()
        loss = phase("forward", self.forward)
        phase("backward", loss.backward)
        phase("optimizer", self.update)
        phase("zero_grad", lambda: self.optimizer.zero_grad(set_to_none=True))
        return found


def device_of(case, folder):
    """The records' device. cuDNN on the stub driver asks for no workspaces of convolutions; its attention has its plans."""
    if "a100" in case:
        return "a100-80g"
    return "h200" if "cudnn" in case else str(device.without_plans(folder))


def run(case):
    """The last of some steps: figures as a record has them."""
    more, began = case.split("-")[4:], time.process_time()
    attention = None if "cudnn" in more or "fp32" in case else "flash"
    with tempfile.TemporaryDirectory() as folder, \
            symprof.simulate(device=device_of(case, folder), name=case, attention=attention, no_cache=True) as simulation:
        step = Step(simulation, case)
        for _ in range(WARM_STEPS):
            step()
        found = step()
        torch.cuda.empty_cache()
        clean = [step() for _ in range(2)][-1]
    seconds = round(time.process_time() - began, 1)
    return {"seconds": seconds, "clean": max(clean["reserved"].values()), **found, **figures(simulation.profile)}


def figures(profile):
    kernels = collections.defaultdict(list)
    for call in profile.calls:
        if call["op"].startswith("triton::") or call["op"] in PRODUCTS:
            phase = "backward" if call["phase"] in ("backward", "recompute") else call["phase"]
            kernels[phase].append(call["op"].removeprefix("triton::"))
    return {"saved_bytes": profile.totals["saved_bytes"], "kernels": dict(kernels), "warnings": profile.warnings}


def is_same(ours, theirs):
    """What is not compiled calls products by aten::linear."""

    def is_one(a, b):
        return a == b or (len(b) >= NAME_LENGTH and a.startswith(b)) or (b == "aten::linear" and a in ("aten::mm", "aten::addmm"))

    return len(ours) == len(theirs) and all(map(is_one, ours, theirs))


def percent(ours, theirs):
    return 100 * (ours / theirs - 1)


def row(case):
    record, found = json.loads((RECORDS / f"{case}.json").read_text()), run(case)
    if case.split("-")[2] == "reduce_overhead":  # No library is called where graphs are replayed.
        found["kernels"] = {phase: [name for name in names if name not in PRODUCTS] for phase, names in found["kernels"].items()}
    is_eager = OPTIONS[case.split("-")[2]].get("eager", False)  # No record has its kernels by name.
    kernels = [is_same(found["kernels"].get(phase, []), record["kernels"][phase]) for phase in PHASES]
    counts = [sum(len(of.get(phase, [])) for phase in PHASES) for of in (found["kernels"], record["kernels"])]
    ours, theirs = ({kind: max(of[kind][phase] for phase in PHASES) for kind in ("peak", "requested")} for of in (found, record))
    return {"case": case, "eager": is_eager, "saved": found["saved_bytes"], "saved_difference": found["saved_bytes"] - record["saved_bytes"],
            "kernels": counts[0], "kernels_theirs": counts[1], "same_kernels": is_eager or all(kernels),
            "requested_difference": ours["requested"] - theirs["requested"], "requested_percent": percent(ours["requested"], theirs["requested"]),
            "peak_percent": percent(ours["peak"], theirs["peak"]),
            "reserved_percent": percent(max(found["reserved"].values()), record["peak_reserved"]),
            "clean_percent": percent(found["clean"], record["peak_reserved_clean"]), "seconds": found["seconds"],
            "warnings": [warning for warning in found["warnings"] if "torch.compile" in warning]}


HEADER = (f"{'case':<42} {'saved bytes':>14} {'difference':>11} {'kernels':>9} {'in order':>8} {'requested':>10} {'peak':>8} {'reserved':>9} "
          f"{'clean':>8} {'CPU s':>6}")


def line(row):
    return (f"{row['case']:<42} {row['saved']:>14,} {row['saved_difference']:>+11,} {row['kernels']:>4}/{row['kernels_theirs']:<4} "
            f"{'yes' if row['same_kernels'] else 'no':>8} {row['requested_difference']:>+10,} {row['peak_percent']:>+7.2f}% "
            f"{row['reserved_percent']:>+8.2f}% {row['clean_percent']:>+7.2f}% {row['seconds']:>6}")


def cases_of(arguments):
    if not arguments.all:
        return arguments.cases
    known = [path.stem for path in sorted(RECORDS.glob("*.json"))]
    return [case for case in known if case.split("-")[2] in OPTIONS]


def rows_of(arguments):
    """As they come; of what fails the last line that it says."""
    for case in cases_of(arguments):
        if not arguments.all:
            yield row(case)
            continue
        done = subprocess.run([sys.executable, __file__, "--json", case], capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{case}: failed: {done.stderr.strip().splitlines()[-1][:120]}", file=sys.stderr, flush=True)
        else:
            yield json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for found in rows_of(arguments):
        rows.append(found)
        if arguments.json:
            print(json.dumps(found), flush=True)
        else:
            words = [f"    {warning}" for warning in found["warnings"]]
            print(*([HEADER] if len(rows) == 1 else []), line(found), *words, sep="\n", flush=True)
    if not arguments.json:
        print(*summary([each for each in rows if not each["eager"]]), sep="\n")


def summary(rows):
    counts = {"saved equal": sum(not each["saved_difference"] for each in rows),
              "kernels equal in number and order": sum(each["same_kernels"] for each in rows),
              "requested peak equal": sum(not each["requested_difference"] for each in rows),
              "requested peak within 0.5 %": sum(abs(each["requested_percent"]) <= 0.5 for each in rows),
              "peak within 0.5 %": sum(abs(each["peak_percent"]) <= 0.5 for each in rows),
              "reserved within 2 %": sum(abs(each["reserved_percent"]) <= 2 for each in rows),
              "reserved within 2 %, cache emptied before": sum(abs(each["clean_percent"]) <= 2 for each in rows)}
    return [f"compiled cases: {len(rows)}", *(f"{name}: {count}" for name, count in counts.items())]


if __name__ == "__main__":
    main()

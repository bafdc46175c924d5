#!/usr/bin/env python3
"""Runs the steps of record_memory.py on the simulated H200 of the Python package, as `symprof run` does.

usage: run_memory.py [--only REGEX] --rows FILE.json

The models are record_memory.py's own, eager, with the versions of transformers and timm that recorded data/; so are the
two steps, behind those of other batches in the variant "fragmented". Written are the peaks of
torch.cuda.max_memory_allocated and max_memory_reserved, for compare_memory.py; rows of FILE that do not run stay."""
import argparse
import importlib.metadata
import json
import pathlib
import sys
import warnings

import symprof  # above torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
warnings.filterwarnings("ignore")

import torch  # noqa: E402

import compare_memory  # noqa: E402
from memory import cases, jobs, networks, steps  # noqa: E402


FROM_TIMM = ("convnext_tiny", "efficientnet_b0")


def peaks(case):
    torch.backends.cudnn.benchmark = case.variant != "no_benchmark"
    with symprof.simulate(device="h200", alloc_conf=compare_memory.alloc_conf(case.variant)):
        device = torch.device("cuda")
        task, _ = steps.build(case, small=False)
        task.to(device)
        networks.fill(task)
        inputs = steps.make_inputs(case, False, case.batch, device)
        make_optimizer = steps.OPTIMIZERS.get(case.step)
        optimizer = make_optimizer and make_optimizer(task.parameters())
        for other in steps.warm_up_batches(case, False):
            steps.run_step(case, task, steps.make_inputs(case, False, other, device), optimizer)
        for _ in range(2):
            steps.run_step(case, task, inputs, optimizer)
        return torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()


def refuse_other_versions(record):
    """Models differ from one version of transformers to the next, and so does what they take."""
    for name in ("transformers", "timm") if record["case"]["model"] in FROM_TIMM else ("transformers",):
        recorded, found = record["machine"]["versions"][name], importlib.metadata.version(name)
        if found != recorded:
            sys.exit(f"run_memory.py: found {name} {found}: expected {recorded}, which recorded {record['case']['model']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="(base|no_benchmark|expandable|fragmented)$", help="cases whose name this regular expression finds")
    parser.add_argument("--rows", type=pathlib.Path, required=True)
    options = parser.parse_args()
    jobs.define_torchvision_operators()
    networks.leave_matrices_unfilled()
    rows = json.loads(options.rows.read_text()) if options.rows.exists() else {}
    for name, record in compare_memory.records(options.only):
        refuse_other_versions(record)
        fields = {key: value for key, value in record["case"].items() if key not in ("small",)}
        allocated, reserved = peaks(cases.Case(**fields))
        rows[name] = {"allocated": allocated, "reserved": reserved}
        print(name, allocated, reserved, flush=True)
    options.rows.write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Holds `symprof measure --device cuda` to what PyTorch's CUDA build really launched, without a GPU.

Usage: measured_steps.py PROGRAM --torch TORCH --cuda CUDA_INCLUDE [--fakes FOLDER] [--rewrite]

PROGRAM is a symprof that was built with TORCH, the CUDA build of 2.13.0 (fakes.py says how to get
it): SYMPROF_TORCH=TORCH make program. Six models run a training step plain, under autocast and
checkpointed on the GPU that computes nothing. Each launch, copy and fill of the recorded step is in
the log of operations.cpp, with a made-up duration, the operator around it, and whether autograd's
engine ran that. The run that symprof saves has to have the same operations, one for one: the
duration to the nanosecond, the operator, the pass, and a node. Where CUPTI may not record, times come
from CUDA's events around each call: then each node and pass of two plain models has to have the sum of
its operations. The same two run where CUPTI's ids begin again in the step, and where it loses records.

steps.csv has what was found; --rewrite writes it anew, else it is compared.
"""
import collections
import csv
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import fakes

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The recipe of each model, and the modules that its checkpointed step recomputes.
MODELS = {
    "gpt2": (["--optimizer", "adamw:foreach"], "model.transformer.h.*"),
    "bert_base": (["--optimizer", "adamw:fused"], "model.bert.encoder.layer.*"),
    "vit_b_16": (["--optimizer", "sgd_momentum:foreach", "--clip-grad-norm"], "encoder.layers.*"),
    "resnet50": (["--optimizer", "sgd_momentum:single"], "layer3.*"),
    "tiny/encoder": (["--optimizer", "adamw:single"], "layers.*"),
    "tiny/convnet": (["--optimizer", "adam:foreach", "--grad-scaler"], "up"),
}
AGAIN = ("bert_base", "tiny/convnet")  # By events, with ids that begin again, with lost records.
TIMELINE = ("--trace", "/dev/null")  # The saved run has it then.
MODES = ("plain", "autocast", "checkpointed")
FIELDS = ["model", "mode", "operations", "forward", "backward", "optimizer", "sum_ns"]


def operations_in(lines):
    keys = ("correlation", "kind", "ns", "stream", "direction", "op", "name")
    return [dict(zip(keys, line.split("\t"))) for line in lines]


def operations_of_step(log):
    """The operations between the last two times that the program took its records."""
    parts = fakes.parts_of(log)
    flushed = parts if log.endswith("flush\n") else parts[:-1]
    return operations_in(flushed[-1])


def options_of(model, mode):
    recipe, regions = MODELS[model]
    return recipe + {"plain": [], "autocast": ["--autocast", "bf16"], "checkpointed": ["--checkpoint", regions]}[mode]


def mark_seed(operations):
    """What autograd::backward asks for before its engine begins, the gradient of the loss, is backward, too."""
    first = next((i for i, operation in enumerate(operations) if operation["direction"] == "backward"), 0)
    if first > 0 and operations[first - 1]["op"] == "aten::ones_like":
        operations[first - 1]["direction"] = "backward"


def command_of(program, model, options, *more):
    return [program, "measure", f"models/{model}.pt2", "--device", "cuda", "--loss", "sum", "--steps", "1", *options, *more,
            "-o", "/dev/null", "--quiet"]


def run(program, model, options, variables, *more):
    with tempfile.TemporaryDirectory() as folder:
        saved, log = pathlib.Path(folder) / "run.json", pathlib.Path(folder) / "launches"
        command = command_of(program, model, options, "--save", str(saved), *more)
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables, "FAKE_LAUNCH_LOG": str(log)},
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return json.loads(saved.read_text()), log.read_text()


def differences(measured, operations):
    """In words; none where all is equal."""
    timeline = measured["timeline"]
    mark_seed(operations)
    if len(timeline["works"]) != len(operations):
        yield f"{len(timeline['works'])} operations were measured, {len(operations)} were asked for"
    by_time = sorted(timeline["works"], key=lambda work: work["begin_us"])
    for work, operation in zip(by_time, operations):
        call = timeline["calls"][work["call"]] if work["call"] >= 0 else None
        where = f"{operation['name'][:60]} in {operation['op']}"
        if round((work["end_us"] - work["begin_us"]) * 1e3) != int(operation["ns"]):
            yield f"{where}: took {(work['end_us'] - work['begin_us']) * 1e3:.0f} ns, not {operation['ns']}"
        if call is None or call["node"] < 0:
            yield f"{where}: no node"
            continue
        if call["op"] != operation["op"]:
            yield f"{where}: is said to be in {call['op']}"
        is_backward = call["phase"] in ("backward", "recompute")
        if is_backward != (operation["direction"] == "backward"):
            yield f"{where}: {call['phase']}, not {operation['direction']}"


def sums_of_nodes(timeline, operations):
    """Nanoseconds by node and pass; `operations` are those of the timeline's works, as they began."""
    sums = collections.Counter()
    for work, operation in zip(sorted(timeline["works"], key=lambda work: work["begin_us"]), operations):
        call = timeline["calls"][work["call"]]
        is_backward = call["phase"] in ("backward", "recompute")
        passed = "optimizer_us" if call["phase"] == "optimizer" else "bwd_us" if is_backward else "fwd_us"
        sums[call["node"], passed] += int(operation["ns"])
    return sums


def differences_by_events(program, model, variables, measured):
    """Of a run without CUPTI's rights from the operations of its last step, which are those of `measured`."""
    run_by_events, log = run(program, model, options_of(model, "plain"), {**variables, "FAKE_CUPTI_REFUSES": "1"})
    if run_by_events["gpu"]["source"] != "events" or not run_by_events["gpu"]["note"]:
        yield "nothing says that events took the place of CUPTI"
    operations = operations_in(log.splitlines()[-len(measured["timeline"]["works"]):])
    wanted = sums_of_nodes(measured["timeline"], operations)
    for id, node in enumerate(run_by_events["nodes"]):
        for passed in ("fwd_us", "bwd_us", "optimizer_us"):
            if round(node[passed] * 1e3) != wanted[id, passed]:
                yield f"{node['name']}, {passed}: {node[passed] * 1e3:.0f} ns, not {wanted[id, passed]}"


def differences_where_ids_end(program, model, variables, log):
    """CUPTI's ids have 32 bits: in the middle of the recorded step they begin again."""
    ids = [int(operation["correlation"]) for operation in operations_of_step(log)]
    first = {"FAKE_FIRST_CORRELATION": str((1 << 32) - (ids[0] + ids[-1]) // 2)}
    measured, log = run(program, model, options_of(model, "plain"), {**variables, **first}, *TIMELINE)
    operations = operations_of_step(log)
    ids = [int(operation["correlation"]) for operation in operations]
    if not ids[0] > 1 << 31 > ids[-1]:
        yield f"ids from {ids[0]} to {ids[-1]} do not begin again"
    yield from differences(measured, operations)


def differences_with_losses(program, model, variables):
    """Where CUPTI loses records, what is left has its time and its operator, and the loss is counted."""
    losing = {**variables, "FAKE_CUPTI_DROP_EVERY": "7"}
    measured, log = run(program, model, options_of(model, "plain"), losing, *TIMELINE)
    operations = {operation["ns"]: operation for operation in operations_of_step(log)}
    timeline, lost = measured["timeline"], measured["gpu"]["dropped_records"]
    without = 0
    for work in timeline["works"]:
        operation = operations.get(str(round((work["end_us"] - work["begin_us"]) * 1e3)))
        call = timeline["calls"][work["call"]] if work["call"] >= 0 else None
        without += call is None
        if operation is None:
            yield f"{work['name'][:60]}: a time that nobody made up"
        elif call is not None and call["op"] != operation["op"]:
            yield f"{operation['name'][:60]} in {operation['op']}: is said to be in {call['op']}"
    missing = len(operations) - len(timeline["works"])
    if missing < 0 or not 0 < missing + without <= lost:
        yield f"{missing} operations are missing and {without} have no call, with {lost} lost records"


def row_of(model, mode, measured):
    phases = [measured["timeline"]["calls"][work["call"]]["phase"] for work in measured["timeline"]["works"]]
    backward = sum(phase in ("backward", "recompute") for phase in phases)
    optimizer = phases.count("optimizer")
    return dict(zip(FIELDS, map(str, (model, mode, len(phases), len(phases) - backward - optimizer, backward, optimizer,
                                      round(measured["gpu"]["sum_us"] * 1e3)))))


def main():
    parser = fakes.argument_parser(__doc__, "program")
    parser.add_argument("--rewrite", action="store_true")
    options = parser.parse_args()
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        variables = fakes.variables_of(options, folder)
        for model, mode in itertools.product(MODELS, MODES):
            measured, log = run(options.program, model, options_of(model, mode), variables, *TIMELINE)
            found = list(differences(measured, operations_of_step(log)))
            if mode == "plain" and model in AGAIN:
                found += differences_by_events(options.program, model, variables, measured)
                found += differences_where_ids_end(options.program, model, variables, log)
                found += differences_with_losses(options.program, model, variables)
            wrong += len(found)
            rows.append(row_of(model, mode, measured))
            print(*rows[-1].values(), f"{len(found)} differ", sep="\t", flush=True)
            print(*(f"    {line}" for line in found[:5]), sep="\n", end="\n" if found else "")
    table = HERE / "steps.csv"
    if options.rewrite:
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    elif list(csv.DictReader(table.open())) != rows:
        sys.exit(f"{table} has other figures")
    sys.exit(f"{wrong} operations differ" if wrong else 0)


if __name__ == "__main__":
    main()

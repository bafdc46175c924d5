"""The record of one case."""
import dataclasses
import functools
import json
import os
import time

import torch

from .allocator_trace import ACTIONS, Phases, blocks_by_call, pack_blocks, pack_trace, start_history
from .calls import Attention, Calls, described
from .machine import driver_used_bytes, machine
from .networks import fill
from .steps import OPTIMIZERS, build, make_inputs, run_step, warm_up_batches


def configure(variant, device):
    """The settings of a variant, before the first allocation. TF32 stays PyTorch's default."""
    torch.backends.cudnn.benchmark = variant != "no_benchmark"
    if variant == "expandable":
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
        if device.type == "cuda":
            torch.cuda.memory._set_allocator_settings("expandable_segments:True")


def size_of(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def cublas_workspace_bytes(device):
    """What cuBLAS and cuBLASLt hold of the allocator's memory at the end of the case."""
    if device.type != "cuda":
        return None
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch._C._cuda_clearCublasWorkspaces()
    return before - torch.cuda.memory_allocated()


def recorded_trace(phases, cuda):
    """The trace since the process began, with the snapshot at its end; nothing without CUDA."""
    if not cuda:
        return None, {}
    snapshot = torch.cuda.memory._snapshot()
    entries = [e for e in snapshot["device_traces"][0] if e["action"] in ACTIONS]
    torch.cuda.memory._record_memory_history(None)
    trace, files, became = pack_trace(entries)
    for row in phases.rows:
        row["events"] = became[row.pop("entries")]
    trace["allocator_settings"] = {k: str(v) for k, v in snapshot.get("allocator_settings", {}).items()}
    return trace, {**files, **pack_blocks(snapshot["segments"], trace["base"])}


def record_case(case, small, device, wait_for_device):
    """(record, files): what the case took. The GPU is this process's from wait_for_device on."""
    started = time.monotonic()
    task, blocks = build(case, small)
    torch.manual_seed(2)
    wait_for_device()
    used_before = driver_used_bytes() if device.type == "cuda" else None
    configure(case.variant, device)
    phases = Phases(device)
    if phases.cuda:
        torch.cuda.init()
        start_history()
    phases.end("context")
    task.to(device)
    fill(task)
    batch = 2 if small else case.batch
    inputs = make_inputs(case, small, batch, device)
    optimizer = OPTIMIZERS[case.step](task.parameters()) if case.step in OPTIMIZERS else None
    phases.end("model and inputs")
    for other in warm_up_batches(case, small):
        run_step(case, task, make_inputs(case, small, other, device), optimizer)
        phases.end(f"batch {other}")
    run_step(case, task, inputs, optimizer)
    phases.end("step 1")
    marks, by_call = {}, None
    second = functools.partial(run_step, case, task, inputs, optimizer, functools.partial(phases.mark, marks))
    if case.variant == "calls":
        by_call = blocks_by_call(second)
    else:
        second()
    phases.end("step 2")
    stats = phases.stats
    trace, files = recorded_trace(phases, phases.cuda)
    if by_call is not None:
        files["blocks_by_call.json"] = json.dumps(by_call).encode()
    with Attention() as attention, Calls(phases.cuda) as calls:
        run_step(case, task, inputs, optimizer, calls.mark)
    record = {
        "case": {**dataclasses.asdict(case), "batch": batch, "small": small},
        "status": "ok",
        "machine": machine(device),
        "model": {
            "parameters": sum(p.numel() for p in task.parameters()),
            "parameter_bytes": size_of(task.parameters()),
            "buffer_bytes": size_of(task.buffers()),
            "checkpointed_blocks": blocks,
            "inputs": [described(x) for x in inputs],
        },
        "phases": phases.rows,
        "step_2_ends": marks,
        "trace": trace,
        "memory_stats": stats,
        "driver_used_bytes_before": used_before,
        "cublas_workspace_bytes": cublas_workspace_bytes(device),
        "attention": attention.result(),
        "seconds": round(time.monotonic() - started, 2),
    }
    return record, {**files, "calls.json": json.dumps(calls.result()).encode()}

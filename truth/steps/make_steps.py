#!/usr/bin/env python3
"""Writes steps.json, and <model>.pt2 beside it: what whole training steps hold at their peak.

Usage: python truth/steps/make_steps.py [NAME ...]   (truth/README.md has the fields)
Needs the packages of requirements-models.txt, timm, and a C++ compiler.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent / "models")]

# Models of h200/record_memory.py, but for three kinds: MemTracker refuses Whisper's frozen parameters, the meta
# kernel of grouped products (mixtures of experts) refuses fp32, and what an LSTM keeps only cuDNN knows.
MODELS = (
    "resnet50", "convnext_tiny", "efficientnet_b0", "unet", "vit_b_16", "swin_t", "bert_base",
    "gpt2_small", "t5_small", "llama_1b", "mistral_like", "qwen_like", "clip",
)
PROGRAMS = ("exported", "module")
OPTIMIZERS = ("sgd_momentum:foreach", "adamw:foreach", "adamw:fused")
DTYPES = ("fp32", "autocast")


def make_optimizer(name, parameters):
    import torch

    kind, variant = name.split(":")
    if kind == "sgd_momentum":
        return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, foreach=True)
    return torch.optim.AdamW(parameters, **{variant: True})


def make_states(module, optimizer):
    """As a step before has left them."""
    import torch

    for parameter in module.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad()


def training_step(module, inputs, optimizer, dtype):
    """The loss lives until the step ends."""
    import torch

    with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "autocast"):
        loss = module(*inputs)
    loss.backward()
    optimizer.step()
    return loss


def constants(module):
    """Tensors of a program that are neither parameters nor buffers."""
    import torch

    held = (value for part in module.modules() for value in vars(part).values())
    return [value for value in held if isinstance(value, torch.Tensor)]


def measure(module, inputs, optimizer_name, dtype):
    import tracker
    from torch.distributed._tools.mem_tracker import MemTracker

    found = {}
    one = tracker.holders_of_one()
    for field, watch in (("memtracker", MemTracker()), ("eager", tracker.CudaTracker(one))):
        optimizer = make_optimizer(optimizer_name, module.parameters())
        make_states(module, optimizer)
        step = lambda: training_step(module, inputs, optimizer, dtype)
        tracked = (module, optimizer, *inputs, *constants(module))
        found[f"{field}_bytes"] = tracker.peak(watch, tracked, step)
        module.zero_grad(set_to_none=True)
    return {**found, "sums_in_place": watch.sums_in_place}


def prepared(name, program_kind, is_checkpointed):
    """(module, inputs) on the CPU."""
    import step_models
    import step_programs

    task, inputs = step_models.build(name)
    paths = step_models.matched(task, step_models.block_paths(name, task)) if is_checkpointed else []
    if program_kind == "exported":
        return step_programs.exported(step_programs.export(task, inputs), paths), inputs
    return step_models.eager(task, paths), inputs


def measure_all(name):
    import fake_models
    from torch._subclasses.fake_tensor import FakeTensorMode

    records = []
    for program_kind, is_checkpointed in itertools.product(PROGRAMS, (False, True)):
        module, inputs = prepared(name, program_kind, is_checkpointed)
        mover = fake_models.Mover(None)
        with FakeTensorMode():
            mover.module(module)
            inputs = tuple(mover.tensor(x) for x in inputs)
            for dtype, optimizer in itertools.product(DTYPES, OPTIMIZERS):
                start = time.time()
                found = measure(module, inputs, optimizer, dtype)
                records.append({"program": program_kind, "checkpoint": is_checkpointed,
                                "dtype": dtype, "optimizer": optimizer, **found})
                print(name, *records[-1].values(), f"{time.time() - start:.1f} s", file=sys.stderr)
    return records


def write_program(name):
    """The .pt2 file; gives the patterns of the modules that checkpointing recomputes."""
    import pt2_file
    import step_models
    import step_programs

    task, inputs = step_models.build(name)
    pt2_file.write(step_programs.export(task, inputs), HERE / f"{name}.pt2", keep_weights=False)
    return step_models.patterns(step_models.block_paths(name, task))


def make_one(name):
    import fake_cuda

    fake_cuda.load()  # before torch
    warnings.filterwarnings("ignore")
    import torch
    import zoo  # lets torchvision be imported without its compiled operators

    assert zoo.TORCHVISION_OPERATORS
    torch.set_num_threads(1)
    # Else torch.autocast switches itself off on a build without CUDA.
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.cuda.is_bf16_supported = lambda: True
    checkpoint = write_program(name)
    return {"torch": torch.__version__.split("+")[0], "device": "H200",
            "checkpoint": checkpoint, "records": measure_all(name)}


def to_text(found):
    """JSON with a record per line, so that a change is a small diff."""
    models = []
    for name in sorted(found):
        head = {key: value for key, value in found[name].items() if key != "records"}
        records = ",\n".join(f"   {json.dumps(record)}" for record in found[name]["records"])
        models.append(f' "{name}": {json.dumps(head)[:-1]}, "records": [\n{records}\n ]}}')
    return "{\n" + ",\n".join(models) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(make_one(args.names[0])))
        return
    path = HERE / "steps.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    for name in args.names or MODELS:  # a process each: the shim has to be loaded before torch
        command = [sys.executable, __file__, "--one", name]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        found[name] = json.loads(output.splitlines()[-1])
        path.write_text(to_text(found))


if __name__ == "__main__":
    main()

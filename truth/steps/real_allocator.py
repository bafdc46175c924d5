#!/usr/bin/env python3
"""Writes allocator.json, and full-size <model>.pt2 into full/: whole training steps as the caching
allocator of PyTorch's own CUDA build counts them, on a GPU that computes nothing.

Usage: python real_allocator.py CUDA_PYTHON CUDA_INCLUDE [NAME ...]

python has the packages of requirements-models.txt, CUDA_PYTHON a CUDA build of PyTorch (2.13.0 from
PyPI) and the same transformers. h200/rehearse.py says what the fake GPU is; without cuDNN only
models without convolutions and recurrent layers run, and attention with a mask is memory-efficient.
"""
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
H200 = HERE.parent / "h200"
sys.path[:0] = [str(HERE), str(H200)]

# The first of the batches of h200/record_memory.py.
MODELS = ("gpt2_small", "bert_base", "llama_1b", "qwen_like")
OPTIMIZERS = ("sgd_momentum:foreach", "adamw:foreach", "adamw:fused")
STEPS = 8


def move(module):
    """As to_empty() does, but a tensor that two modules share is made once."""
    import torch

    made = {}

    def on_gpu(tensor):
        if tensor not in made:
            made[tensor] = torch.empty_like(tensor, device="cuda")
        return made[tensor]

    return module._apply(on_gpu)


def build(name):
    """On the meta device, then on the GPU: no figure depends on a number in it."""
    import torch
    from memory.models import MODELS

    model = MODELS[name]
    with torch.device("meta"):
        task = model.build(False)
    move(task).train()
    task.network.tie_weights()
    return task, lambda: tuple(x.to("cuda") for x in model.inputs(False, model.batches[0]))


def run_case(name, dtype, optimizer_name, is_checkpointed):
    """Peaks of a usual loop; gradients go, then the next batch is there before the last one goes."""
    import make_steps
    import step_models
    import torch

    task, make_inputs = build(name)
    if is_checkpointed:
        step_models.eager(task, step_models.block_paths(name, task))
    optimizer = make_steps.make_optimizer(optimizer_name, task.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs = make_inputs()
        with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "autocast"):
            loss = task(*inputs)
        loss.backward()
        optimizer.step()
    return {"peak_allocated_bytes": torch.cuda.max_memory_allocated(),
            "peak_reserved_bytes": torch.cuda.max_memory_reserved()}


def in_child(case):
    """A process of its own has an empty cache; the parent has imported everything, and no GPU."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = run_case(*case)
        except Exception as error:  # what PyTorch says is the result
            found = {"failed": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
        os.write(write, json.dumps(found).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def measure(name):
    import step_models  # before the children, with all that it imports
    import torch
    import transformers
    from memory.models import MODELS

    records = []
    for is_checkpointed, dtype, optimizer in itertools.product((False, True), ("fp32", "autocast"), OPTIMIZERS):
        found = in_child((name, dtype, optimizer, is_checkpointed))
        records.append({"checkpoint": is_checkpointed, "dtype": dtype, "optimizer": optimizer, **found})
        print(name, *records[-1].values(), file=sys.stderr, flush=True)
    with torch.device("meta"):
        task = MODELS[name].build(False)
    patterns = step_models.patterns(step_models.block_paths(name, task))
    return {"torch": torch.__version__, "transformers": transformers.__version__, "attention": "efficient",
            "checkpoint": patterns, "records": records}


def transformers_version(python):
    code = "import importlib.metadata; print(importlib.metadata.version('transformers'))"
    return subprocess.check_output([python, "-c", code], text=True).strip()


def export(name):
    """The training program with the loss, on fake tensors, by h200/record_memory.py."""
    from memory.models import MODELS

    job = f"{name}-b{MODELS[name].batches[0]}-fp32"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(H200 / "record_memory.py"), "--device", "cpu", "--out", folder]
        subprocess.run([*command, "--only", f"^export-{job}$"], check=True)
        with zipfile.ZipFile(pathlib.Path(folder) / f"export-{job}.zip") as archive:
            (HERE / "full").mkdir(exist_ok=True)
            (HERE / "full" / f"{name}.pt2").write_bytes(archive.read("program.pt2"))


def main():
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
        return
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    import make_steps
    import rehearse

    cuda_python, include, *names = sys.argv[1:]
    versions = {transformers_version(python) for python in (cuda_python, sys.executable)}
    if len(versions) > 1:
        sys.exit(f"real_allocator.py: transformers {' and '.join(sorted(versions))}: the program would not be the module")
    path = HERE / "allocator.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        environment = rehearse.environment_on_fake_gpu(
            cuda_python, include, folder, TORCH_CUDNN_SDPA_DEPRIORITIZED="1", PYTORCH_NVML_BASED_CUDA_CHECK="1")
        for name in names or MODELS:
            command = [cuda_python, __file__, "--one", name]
            output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
            found[name] = json.loads(output.stdout.splitlines()[-1])
            path.write_text(make_steps.to_text(found))
    for name in names or MODELS:
        export(name)


if __name__ == "__main__":
    main()

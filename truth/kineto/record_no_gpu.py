#!/usr/bin/env python3
"""Records training steps of example models by PyTorch's CUDA build on a GPU that computes nothing: truth/kineto/no_gpu/.

    LD_PRELOAD=... venv/bin/python truth/kineto/record_no_gpu.py [NAME ...]

torch.profiler and PyTorch are as they are; the CUDA runtime, the driver and CUPTI are stand-ins that are loaded before
(truth/scripts/README.md; a CUPTI as theirs makes up the durations of kernels). So names, order, calls, streams and
correlation ids are PyTorch's, and times are made up. Each model runs plain, under autocast to bf16, and with each child
of the model checkpointed (not where a later module changes a checkpointed result in place, which PyTorch refuses)."""
import gzip
import json
import pathlib
import sys
import tempfile

sys.modules["triton"] = None  # It asks the driver.
import torch  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent.parent / "models")]
import slim  # noqa: E402
import zoo  # noqa: E402

NAMES = ("mlp", "convnet", "tied_lm", "reused_layer", "kept_base", "gpt2")
CHANGES_IN_PLACE = {"convnet"}


def checkpoint_children(module):
    for child in module.children():
        forward = child.forward
        child.forward = lambda *given, run=forward, **named: checkpoint(run, *given, use_reentrant=False, **named)


def record(name, mode, path):
    module, inputs = zoo.MODELS[name].build()
    module = module.float().train().cuda()
    inputs = tuple(tensor.cuda() for tensor in inputs)
    if mode == "checkpointed":
        checkpoint_children(module)
    optimizer = torch.optim.AdamW(module.parameters())

    def step():
        with torch.autocast("cuda", torch.bfloat16, enabled=mode == "autocast"):
            loss = module(*inputs).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as profiler:
        step()
    profiler.export_chrome_trace(str(path))


def main():
    (FOLDER / "no_gpu").mkdir(exist_ok=True)
    for name in sys.argv[1:] or NAMES:
        for mode in ("plain", "autocast", "checkpointed"):
            if mode == "checkpointed" and name in CHANGES_IN_PLACE:
                continue
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "trace.json"
                record(name, mode, path)
                text = json.dumps(slim.slim(json.loads(path.read_text())), separators=(",", ":"))
            (FOLDER / "no_gpu" / f"{name}_{mode}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()

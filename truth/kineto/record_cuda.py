#!/usr/bin/env python3
"""Records training steps of example models by PyTorch's CUDA build, as torch.profiler writes them.

    python truth/kineto/record_cuda.py h200 [NAME ...]                          # on a GPU: truth/kineto/h200/
    LD_PRELOAD=... python truth/kineto/record_cuda.py no_gpu [NAME ...]         # on a GPU that computes nothing

Without a GPU the CUDA runtime, the driver and CUPTI are stand-ins that are loaded before (truth/scripts/README.md; a
CUPTI as theirs makes up the durations of kernels). So names, order, calls, streams and correlation ids are PyTorch's,
and times are made up. Each model runs plain, under autocast to bf16, and with each child of the model checkpointed (not
where a later module changes a checkpointed result in place, which PyTorch refuses)."""
import gzip
import json
import pathlib
import sys
import tempfile

HAS_GPU = sys.argv[1:2] != ["no_gpu"]
if not HAS_GPU:
    sys.modules["triton"] = None  # type: ignore[assignment]  # It asks the driver.
else:
    import torchvision  # noqa: F401  (before the example models, which stand in for operators that it lacks)
import torch  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent.parent / "models")]
import slim  # noqa: E402
import zoo  # noqa: E402

NAMES = ("mlp", "convnet", "tied_lm", "reused_layer", "kept_base", "gpt2")
NAMES_WITH_GPU = (*NAMES, "resnet50", "vit_b_16", "bert_base")
CHANGES_IN_PLACE = {"convnet", "resnet50"}


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

    for _ in range(5 if HAS_GPU else 1):  # The first ones choose algorithms.
        step()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as profiler:
        step()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(str(path))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = FOLDER / sys.argv[1]
    folder.mkdir(exist_ok=True)
    for name in sys.argv[2:] or (NAMES_WITH_GPU if HAS_GPU else NAMES):
        for mode in ("plain", "autocast", "checkpointed"):
            if mode == "checkpointed" and name in CHANGES_IN_PLACE:
                continue
            with tempfile.TemporaryDirectory() as temporary:
                path = pathlib.Path(temporary) / "trace.json"
                record(name, mode, path)
                text = json.dumps(slim.slim(json.loads(path.read_text())), separators=(",", ":"))
            (folder / f"{name}_{mode}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
            print(name, mode, flush=True)


if __name__ == "__main__":
    main()

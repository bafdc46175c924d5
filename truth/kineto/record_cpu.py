#!/usr/bin/env python3
"""Records one training step of example models on the CPU with torch.profiler, cut by slim.py: truth/kineto/cpu/.

    venv/bin/python truth/kineto/record_cpu.py [NAME ...]      # the packages of requirements-models.txt

The modules are those that models/make.py exports, in train mode; the loss is the sum of the output, the optimizer is
SGD. A step without a record comes first."""
import gzip
import json
import pathlib
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, schedule

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent.parent / "models")]
import slim  # noqa: E402
import zoo  # noqa: E402

NAMES = ("resnet50", "vit_b_16", "gpt2", "bert_base", "convnet", "tied_lm")
BATCH = {"resnet50": 2, "vit_b_16": 1, "bert_base": 1, "gpt2": 1}


def record(name, path):
    module, inputs = zoo.MODELS[name].build()
    module = module.float().train()
    if name in BATCH:
        inputs = tuple(tensor[:BATCH[name]] for tensor in inputs)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 schedule=schedule(wait=0, warmup=1, active=1, repeat=1)) as profiler:
        for _ in range(2):
            optimizer.zero_grad()
            module(*inputs).sum().backward()
            optimizer.step()
            profiler.step()
    profiler.export_chrome_trace(str(path))


def main():
    (FOLDER / "cpu").mkdir(exist_ok=True)
    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            record(name, path)
            text = json.dumps(slim.slim(json.loads(path.read_text())), separators=(",", ":"))
        (FOLDER / "cpu" / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        print(name, len(text))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A training step of a model as an object: on symprof's simulated device, under PyTorch's Python tools, and on plain meta
tensors, in one process.

Usage: benchmarks/eager.py [NAME…] [-o RESULT.json]          (packages of requirements-models.txt, symprof in PYTHONPATH)
Prints a Markdown table. A step is forward, backward and AdamW. Three columns, each of steps after a first one that is not
counted, in turn:
  symprof   the program's own step inside symprof.simulate(), Python's own frames included;
  tools     the same under FakeTensorMode with FlopCounterMode and MemTracker;
  meta      the same on tensors of the device meta, which nobody observes: as PyTorch has them after `import torch`, and
            with the shape functions of C++, which symprof takes in place of those in Python (python/symprof/_kernels.py).
Medians of CPU time in milliseconds, (min-max): what else the machine does is not counted, and nothing here waits."""
import argparse
import contextlib
import json
import pathlib
import statistics
import sys
import time
import unittest.mock
import warnings

import symprof  # Before torch.
from symprof import _kernels

import torch

LIBRARY = torch.library.Library("torchvision", "FRAGMENT")
for operator in ("nms", "qnms"):  # As models/zoo.py: their compiled code is not called.
    if not hasattr(torch.ops.torchvision, operator):
        LIBRARY.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torch.utils.flop_counter import FlopCounterMode

STEPS = {"symprof": 5, "tools": 1, "meta": 2, "meta_cpp": 5}


def language(name, config, batch=2, length=512, **settings):
    def make():
        import transformers

        model = getattr(transformers, name)(getattr(transformers, config)(**settings))
        ids = torch.zeros(batch, length, dtype=torch.int64)
        return model, {"input_ids": ids, "labels": ids}

    return make


def vision(name, batch=8):
    def make():
        import torchvision

        return getattr(torchvision.models, name)(), (torch.zeros(batch, 3, 224, 224),)

    return make


def unet():
    import diffusers

    model = diffusers.UNet2DConditionModel(sample_size=64, cross_attention_dim=768)
    return model, (torch.zeros(2, 4, 64, 64), torch.zeros(2, dtype=torch.int64), torch.zeros(2, 77, 768))


MODELS = {
    "gpt2": language("GPT2LMHeadModel", "GPT2Config"),
    "vit_b_16": vision("vit_b_16"),
    "resnet50": vision("resnet50"),
    "bert_base": language("BertForMaskedLM", "BertConfig"),
    "t5_small": language("T5ForConditionalGeneration", "T5Config", decoder_start_token_id=0),
    "llama_7b": language("LlamaForCausalLM", "LlamaConfig", batch=1, length=2048, dtype="bfloat16"),
    "qwen2_0.5b": language("Qwen2ForCausalLM", "Qwen2Config", batch=1, length=1024, hidden_size=896, intermediate_size=4864,
                           num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2),
    "swin_t": vision("swin_t"),
    "stable_diffusion_unet": unet,
}


def moved(value, device):
    if isinstance(value, dict):
        return {key: tensor.to(device) for key, tensor in value.items()}
    return tuple(tensor.to(device) for tensor in value)


def loss_of(output):
    loss = getattr(output, "loss", None)
    if loss is not None:
        return loss
    return (output.sample if hasattr(output, "sample") else output).sum()


def seconds_of(model, inputs, steps, around=contextlib.nullcontext):
    optimizer = torch.optim.AdamW(model.parameters())
    seconds = []
    for _ in range(steps + 1):
        start = time.process_time()
        with around():
            output = model(**inputs) if isinstance(inputs, dict) else model(*inputs)
            loss_of(output).backward()
            optimizer.step()
            optimizer.zero_grad()
        del output
        seconds.append(time.process_time() - start)
    return seconds[1:]


def on_symprof(make):
    with symprof.simulate():
        with torch.device("cuda"):  # While it is open, it costs each call some Python.
            model, inputs = make()
        return seconds_of(model.train(), moved(inputs, "cuda"), STEPS["symprof"])


def under_tools(make):
    """MemTracker wants to know the model before each step, as its own documentation has it."""
    with FakeTensorMode():
        # Which values a truncated normal number is drawn again for is read, and fake tensors have none.
        with unittest.mock.patch("torch.nn.init.trunc_normal_", lambda tensor, *args, **settings: tensor):
            model, inputs = make()
        tracker = MemTracker()

        @contextlib.contextmanager
        def watched():
            tracker.track_external(model)
            with FlopCounterMode(display=False), tracker:
                yield
            tracker.reset_mod_stats()

        return seconds_of(model.train(), inputs, STEPS["tools"], watched)


def on_meta(make, kernels=contextlib.nullcontext, name="meta"):
    with kernels():
        with torch.device("meta"):
            model, inputs = make()
        return seconds_of(model.train(), moved(inputs, "meta"), STEPS[name])


COLUMNS = {
    "symprof": on_symprof,
    "tools": under_tools,
    "meta": on_meta,
    "meta_cpp": lambda make: on_meta(make, _kernels.of_cpp, "meta_cpp"),
}


def spread(seconds):
    if seconds is None:
        return "–"
    low, middle, high = (1000 * value for value in (min(seconds), statistics.median(seconds), max(seconds)))
    return f"{middle:.0f} ({low:.0f}-{high:.0f})"


def ratio(above, below):
    return "–" if above is None or below is None else f"{statistics.median(above) / statistics.median(below):.1f}"


def measure(name, column):
    try:
        return COLUMNS[column](MODELS[name])
    except Exception as error:  # One that a tool does not run is a dash, and said.
        print(f"{name}, {column}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", file=sys.stderr)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *MODELS], default=[])
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    results = {}
    print("| model | symprof, ms | tools, ms | times faster | meta, ms | symprof / meta | meta of C++, ms | symprof / it |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.names or MODELS:
        found = results[name] = {column: measure(name, column) for column in COLUMNS}
        print(f"| {name} | {spread(found['symprof'])} | {spread(found['tools'])} | {ratio(found['tools'], found['symprof'])} "
              f"| {spread(found['meta'])} | {ratio(found['symprof'], found['meta'])} | {spread(found['meta_cpp'])} "
              f"| {ratio(found['symprof'], found['meta_cpp'])} |", flush=True)
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()

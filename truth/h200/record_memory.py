#!/usr/bin/env python3
"""Records what real training steps take of a GPU's memory, event by event.

One process per case, results written as they come; what is already there is skipped. README.md
beside this file has the commands and the meaning of every field. Sections: models, cases, steps,
the allocator's trace, the calls, one case, probes, exported programs, processes, command line.
"""
import argparse
import array
import collections
import contextlib
import dataclasses
import faulthandler
import functools
import importlib.metadata
import io
import itertools
import json
import math
import multiprocessing
import os
import pathlib
import platform
import re
import site
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from typing import Callable

# A forked process cannot use CUDA when its parent asked the driver; this lets imports ask NVML.
os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils.checkpoint import checkpoint

warnings.filterwarnings("ignore")

# ---------------------------------------------------------------------------------------- models

RANDOM_FILLS = (
    "normal_", "uniform_", "trunc_normal_", "kaiming_normal_", "kaiming_uniform_",
    "xavier_normal_", "xavier_uniform_", "orthogonal_",
)


def leave_matrices_unfilled():
    """Building takes no time; `fill` writes the matrices on the device. Before transformers is
    imported, which keeps the functions that it finds."""

    def zeros_in_vectors(tensor, *args, **kwargs):
        with torch.no_grad():
            return tensor.zero_() if tensor.dim() < 2 else tensor

    for name in RANDOM_FILLS:
        setattr(nn.init, name, zeros_in_vectors)


def fill(module):
    """Random numbers where values decide sizes: a mixture of experts sends tokens by them."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.02)


class Task(nn.Module):
    """A network with its loss: takes tensors alone, returns the loss."""

    def __init__(self, network, loss):
        super().__init__()
        self.network = network
        self.loss = loss

    def forward(self, *inputs):
        return self.loss(self.network, *inputs)


def classification_loss(network, images, labels):
    return functional.cross_entropy(network(images), labels)


def language_loss(network, input_ids):
    return network(input_ids=input_ids, labels=input_ids).loss


def masked_language_loss(network, input_ids, attention_mask):
    return network(input_ids=input_ids, attention_mask=attention_mask, labels=input_ids).loss


def sequence_loss(network, input_ids, labels):
    return network(input_ids=input_ids, labels=labels).loss


def speech_loss(network, input_features, labels):
    return network(input_features=input_features, labels=labels).loss


def contrastive_loss(network, input_ids, pixel_values):
    return network(input_ids=input_ids, pixel_values=pixel_values, return_loss=True).loss


def segmentation_loss(network, images, labels):
    return functional.cross_entropy(network(images), labels)


def recurrent_loss(network, input_ids):
    return functional.cross_entropy(network(input_ids).flatten(0, 1), input_ids.flatten())


def images(batch, size):
    return torch.randn(batch, 3, size, size)


def integers(vocabulary, *shape):
    return torch.randint(0, vocabulary, shape)


class DoubleConvolution(nn.Sequential):
    def __init__(self, channels_in, channels):
        super().__init__(
            nn.Conv2d(channels_in, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
        )


class UNet(nn.Module):
    """The U-Net of 2015 with batch norm: contracting and expanding path, skips concatenated."""

    def __init__(self, width, depth, classes=2):
        super().__init__()
        widths = [width * 2**level for level in range(depth)]
        self.down = nn.ModuleList(map(DoubleConvolution, [3, *widths[:-1]], widths))
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(wide, narrow, 2, stride=2)
            for wide, narrow in zip(widths[:0:-1], widths[-2::-1])
        )
        self.join = nn.ModuleList(DoubleConvolution(2 * n, n) for n in widths[-2::-1])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = []
        for block in self.down:
            x = block(functional.max_pool2d(x, 2) if skips else x)
            skips.append(x)
        skips.pop()
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([skips.pop(), up(x)], 1))
        return self.head(x)


class RecurrentModel(nn.Module):
    def __init__(self, vocabulary, width, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.dropout = nn.Dropout(0.5)
        self.layer = nn.LSTM(width, width, layers, batch_first=True, dropout=0.5)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, input_ids):
        hidden, _ = self.layer(self.dropout(self.embedding(input_ids)))
        return self.head(self.dropout(hidden))


@dataclasses.dataclass(frozen=True)
class Model:
    """How a model is built and fed; `small` is the size for a machine without a GPU."""

    build: Callable  # (small) -> Task
    inputs: Callable  # (small, batch) -> tuple of CPU tensors
    blocks: tuple[str, ...]  # classes whose calls activation checkpointing runs again
    batches: tuple[int, int]
    seconds: float  # on the GPU, estimated


def vision(package, name, blocks, batches, seconds, small_size=64, **small_settings):
    def build(small):
        settings = small_settings if small else {}
        if package == "torchvision":
            import torchvision.models

            made = getattr(torchvision.models, "VisionTransformer" if small_settings and small else name)
            network = made(**settings)
        else:
            import timm

            network = timm.create_model(name, pretrained=False, **settings)
        return Task(network, classification_loss)

    def inputs(small, batch):
        return images(batch, small_size if small else 224), integers(1000, batch)

    return Model(build, inputs, blocks, batches, seconds)


def from_transformers(config_name, model_name, settings, small_settings, loss):
    def build(small):
        import transformers

        config = getattr(transformers, config_name)(**{**settings, **(small_settings if small else {})})
        return Task(getattr(transformers, model_name)(config), loss)

    return build


def decoder(family, settings, small_settings, blocks, batches, seconds, model_name=None, length=512):
    vocabulary = settings.get("vocab_size", 32000)
    settings = {"use_cache": False, **settings}

    def inputs(small, batch):
        return (integers(500 if small else vocabulary, batch, 48 if small else length),)

    small_settings = {"vocab_size": 512, "bos_token_id": 1, "eos_token_id": 2, **small_settings}
    name = model_name or f"{family}ForCausalLM"
    build = from_transformers(f"{family}Config", name, settings, small_settings, language_loss)
    return Model(build, inputs, blocks, batches, seconds)


def gpt2(width, layers, heads, batches, seconds):
    settings = {"n_embd": width, "n_layer": layers, "n_head": heads, "vocab_size": 50257}
    small = {"n_embd": 64, "n_layer": 2, "n_head": 2}
    return decoder("GPT2", settings, small, ("GPT2Block",), batches, seconds, "GPT2LMHeadModel")


def grouped(family, width, inner, layers, heads, groups, batches, seconds, vocabulary=32000, **more):
    """A decoder whose query heads share key and value heads."""
    settings = {
        "hidden_size": width, "intermediate_size": inner, "num_hidden_layers": layers,
        "num_attention_heads": heads, "num_key_value_heads": groups, "vocab_size": vocabulary,
        **more,
    }
    small = {
        "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2,
    }
    return decoder(family, settings, small, (f"{family}DecoderLayer",), batches, seconds)


def bert():
    small = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
             "num_attention_heads": 2, "vocab_size": 512}
    build = from_transformers("BertConfig", "BertForMaskedLM", {}, small, masked_language_loss)

    def inputs(small, batch):
        length = 48 if small else 384
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[0, length // 2:] = 0
        return integers(500 if small else 30522, batch, length), mask

    return Model(build, inputs, ("BertLayer",), (8, 20), 3)


def t5():
    small = {"d_model": 64, "d_ff": 128, "d_kv": 32, "num_heads": 2, "num_layers": 2, "vocab_size": 512}
    settings = {"d_model": 512, "d_ff": 2048, "num_heads": 8, "num_layers": 6, "use_cache": False,
                "decoder_start_token_id": 0}
    build = from_transformers("T5Config", "T5ForConditionalGeneration", settings, small, sequence_loss)

    def inputs(small, batch):
        vocabulary = 500 if small else 32000
        return (integers(vocabulary, batch, 32 if small else 384),
                integers(vocabulary, batch, 16 if small else 128))

    return Model(build, inputs, ("T5Block",), (8, 20), 3)


def whisper():
    layers = {"encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8,
              "decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048}
    small = {name: 2 for name in layers} | {"encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "d_model": 64,
                                            "max_source_positions": 50}
    build = from_transformers("WhisperConfig", "WhisperForConditionalGeneration",
                              {"d_model": 512, "use_cache": False, **layers}, small, speech_loss)

    def inputs(small, batch):
        return torch.randn(batch, 80, 100 if small else 3000), integers(50000, batch, 8 if small else 96)

    return Model(build, inputs, ("WhisperEncoderLayer", "WhisperDecoderLayer"), (4, 10), 4)


def clip():
    few = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
    small = {"text_config": {**few, "vocab_size": 512, "eos_token_id": 2},
             "vision_config": {**few, "image_size": 64}}
    build = from_transformers("CLIPConfig", "CLIPModel", {}, small, contrastive_loss)

    def inputs(small, batch):
        return (integers(500 if small else 49000, batch, 16 if small else 77),
                images(batch, 64 if small else 224))

    return Model(build, inputs, ("CLIPEncoderLayer",), (16, 40), 4)


def unet():
    def build(small):
        return Task(UNet(8 if small else 64, 3 if small else 5), segmentation_loss)

    def inputs(small, batch):
        size = 64 if small else 256
        return images(batch, size), integers(2, batch, size, size)

    return Model(build, inputs, ("DoubleConvolution",), (4, 10), 4)


def lstm():
    def build(small):
        network = RecurrentModel(512, 64, 2) if small else RecurrentModel(10000, 1024, 2)
        return Task(network, recurrent_loss)

    def inputs(small, batch):
        return (integers(500 if small else 10000, batch, 16 if small else 128),)

    return Model(build, inputs, ("LSTM",), (32, 80), 2)


MODELS = {
    "resnet50": vision("torchvision", "resnet50", ("Bottleneck",), (32, 80), 5),
    "convnext_tiny": vision("timm", "convnext_tiny", ("ConvNeXtBlock",), (16, 40), 5,
                            depths=(1, 1, 2, 1), dims=(16, 32, 64, 128)),
    "efficientnet_b0": vision("timm", "efficientnet_b0", ("InvertedResidual",), (32, 80), 6),
    "unet": unet(),
    "vit_b_16": vision("torchvision", "vit_b_16", ("EncoderBlock",), (16, 40), 3, 64,
                       image_size=64, patch_size=16, num_layers=2, num_heads=2, hidden_dim=64, mlp_dim=128),
    "swin_t": vision("torchvision", "swin_t", ("SwinTransformerBlock",), (16, 40), 4),
    "bert_base": bert(),
    "gpt2_small": gpt2(768, 12, 12, (4, 10), 3),
    "gpt2_medium": gpt2(1024, 24, 16, (2, 6), 4),
    "t5_small": t5(),
    "llama_1b": grouped("Llama", 2048, 8192, 16, 32, 8, (1, 3), 6, 128256, tie_word_embeddings=True),
    "mistral_like": grouped("Mistral", 1024, 3584, 12, 16, 4, (2, 6), 4, sliding_window=256),
    "qwen_like": grouped("Qwen2", 896, 4864, 12, 14, 2, (2, 6), 4, 151936, tie_word_embeddings=True),
    "moe_small": grouped("Mixtral", 512, 1024, 6, 8, 4, (2, 6), 5, num_local_experts=8),
    "clip": clip(),
    "whisper_base": whisper(),
    "lstm": lstm(),
}

# ----------------------------------------------------------------------------------------- cases

DTYPES = ("fp32", "autocast", "bf16")
STEPS = ("forward", "backward", "sgd_momentum", "adam_single", "adam_foreach", "adam_fused")
VARIANTS = ("no_benchmark", "expandable", "fragmented")
# Cases whose second step is recorded once more with the calls that ask for each block (variant "calls").
WITH_CALLS = "^(moe_small-fp32-adam_single|mistral_like-bf16-adam_fused)-checkpoint-b2|^lstm-fp32-adam"


@dataclasses.dataclass(frozen=True)
class Case:
    model: str
    dtype: str
    step: str
    checkpoint: bool
    batch: int
    variant: str = "base"

    @property
    def name(self):
        kept = "checkpoint" if self.checkpoint else "plain"
        return f"{self.model}-{self.dtype}-{self.step}-{kept}-b{self.batch}-{self.variant}"

    @property
    def seconds(self):
        return MODELS[self.model].seconds * (1.5 if self.variant == "fragmented" else 1)


def base_cases(number, model):
    """Half of the pairs of dtype and step, the other half for the next model; checkpointing and
    the batch go through their pairs beside them. One common case makes models comparable."""
    batches = MODELS[model].batches
    common = Case(model, "autocast", "adam_fused", False, batches[0])
    found = {common.name: common}
    for index, (dtype, step) in enumerate(itertools.product(DTYPES, STEPS)):
        if index % 2 != (number + index // len(STEPS)) % 2:
            continue
        again = step != "forward" and (index // 2 + number // 2) % 2 == 1
        case = Case(model, dtype, step, again, batches[(index // 3 + number) % 2])
        found[case.name] = case
    return list(found.values())


def all_cases():
    """Every base case, then the variants of a third of them and one run again per model."""
    base = [base_cases(number, model) for number, model in enumerate(MODELS)]
    flat = [case for cases in base for case in cases]
    traced = [dataclasses.replace(case, variant="calls") for case in flat if re.search(WITH_CALLS, case.name)]
    varied = [dataclasses.replace(case, variant=variant) for case in flat[::3] for variant in VARIANTS]
    again = [dataclasses.replace(cases[0], variant="again") for cases in base]
    return flat + again + varied + traced


# ----------------------------------------------------------------------------------------- steps

OPTIMIZERS = {
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9),
    "adam_single": lambda p: torch.optim.Adam(p, lr=1e-4, foreach=False),
    "adam_foreach": lambda p: torch.optim.Adam(p, lr=1e-4, foreach=True),
    "adam_fused": lambda p: torch.optim.Adam(p, lr=1e-4, fused=True),
}


def checkpoint_blocks(task, classes):
    """How many blocks now run under torch.utils.checkpoint, not reentrant."""
    blocks = [m for m in task.modules() if type(m).__name__ in classes]
    for block in blocks:
        block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
    return len(blocks)


def build(case, small):
    """On the CPU: the time of this is not the GPU's."""
    torch.manual_seed(0)
    model = MODELS[case.model]
    task = model.build(small)
    task.train(case.step != "forward")
    blocks = checkpoint_blocks(task, model.blocks) if case.checkpoint else 0
    if case.checkpoint and not blocks:
        raise RuntimeError(f"{case.model}: found no block of class {', '.join(model.blocks)}")
    if case.dtype == "bf16":
        task.to(torch.bfloat16)
    return task, blocks


def make_inputs(case, small, batch, device):
    torch.manual_seed(1)
    dtype = torch.bfloat16 if case.dtype == "bf16" else torch.float32
    made = MODELS[case.model].inputs(small, batch)
    return tuple(x.to(device, dtype if x.is_floating_point() else None) for x in made)


def run_step(case, task, inputs, optimizer, mark=lambda name: None):
    """One step; the loss lives to the end of it, gradients are dropped at its end."""
    with contextlib.ExitStack() as stack:
        if case.step == "forward":
            stack.enter_context(torch.no_grad())
        if case.dtype == "autocast":
            stack.enter_context(torch.autocast(inputs[0].device.type, torch.bfloat16))
        loss = task(*inputs)
    mark("forward")
    if case.step == "forward":
        return
    loss.backward()
    mark("backward")
    if optimizer:
        optimizer.step()
        mark("optimizer")
    task.zero_grad(set_to_none=True)


# -------------------------------------------------------------------------- the allocator's trace

ACTIONS = ("alloc", "free", "free_requested", "free_completed", "segment_alloc", "segment_free",
           "segment_map", "segment_unmap", "oom")
BLOCK_STATES = ("inactive", "active_allocated", "active_pending_free")


def start_history():
    torch.cuda.memory._record_memory_history("all", context=None, stacks="python")


def trace_entries():
    """The device's entries so far; taking a snapshot adds one that says so, left out here."""
    traces = torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]
    return [entry for entry in traces if entry["action"] in ACTIONS]


def fused(entries):
    """(action, size, address) with a free that completes at once as one event; and for every
    number of entries the number of events that they became."""
    events, became = [], [0]
    for entry in entries:
        action = entry["action"]
        address = entry.get("addr", 0)
        previous = events[-1] if events else None
        if action == "free_completed" and previous and previous[0] == "free_requested" and previous[2] == address:
            events[-1] = ("free", previous[1], address)
        else:
            events.append((action, entry["size"], address))
        became.append(len(events))
    return events, became


def column(values, width):
    """Little-endian integers, first all lowest bytes, then all second ones: it compresses better."""
    data = array.array({1: "B", 4: "I", 8: "Q"}[width], values)
    if sys.byteorder == "big":
        data.byteswap()
    raw = data.tobytes()
    return b"".join(raw[place::width] for place in range(width))


def pack_trace(entries):
    """Columns of the events, addresses as offsets from the lowest; what a reader needs beside."""
    events, became = fused(entries)
    segments = [e[2] for e in events if e[0] in ("segment_alloc", "segment_map")]
    base = min(segments, default=0)
    files = {
        "action.u8": column([ACTIONS.index(e[0]) for e in events], 1),
        "size.u64": column([e[1] for e in events], 8),
        "offset.u64": column([max(e[2] - base, 0) for e in events], 8),
    }
    streams = sorted({entry.get("stream", 0) for entry in entries})
    return {"events": len(events), "actions": ACTIONS, "streams": streams, "base": base}, files, became


def pack_blocks(segments, base):
    """Every segment and block of a snapshot as columns."""
    blocks = [(b, s) for s in segments for b in s["blocks"]]
    starts = []
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            starts.append(block.get("address", address) - base)
            address += block["size"]
    return {
        "segment_offset.u64": column([s["address"] - base for s in segments], 8),
        "segment_size.u64": column([s["total_size"] for s in segments], 8),
        "block_offset.u64": column(starts, 8),
        "block_size.u64": column([b["size"] for b, _ in blocks], 8),
        "block_requested.u64": column([b.get("requested_size", 0) for b, _ in blocks], 8),
        "block_state.u8": column([BLOCK_STATES.index(b["state"].replace("active_awaiting_free", "active_pending_free"))
                                  for b, _ in blocks], 1),
    }


# Whether no other process of this run uses the device; else nobody knows whose its memory is.
DEVICE = {"alone": True}


def device_used_bytes():
    free, total = torch.cuda.mem_get_info()
    return total - free if DEVICE["alone"] else None


PHASE_FIELDS = {
    "allocated_bytes": "allocated_bytes.all.current",
    "max_memory_allocated": "allocated_bytes.all.peak",
    "reserved_bytes": "reserved_bytes.all.current",
    "max_memory_reserved": "reserved_bytes.all.peak",
    "requested_bytes": "requested_bytes.all.current",
    "max_requested_bytes": "requested_bytes.all.peak",
    "active_bytes": "active_bytes.all.current",
    "max_active_bytes": "active_bytes.all.peak",
    "allocations": "allocation.all.allocated",
    "frees": "allocation.all.freed",
}


class Phases:
    """The allocator's figures at the end of each phase, peaks since the phase began."""

    def __init__(self, device):
        self.cuda = device.type == "cuda"
        self.rows = []
        self.stats = None

    def end(self, name):
        row = {"name": name, "entries": None, "device_used_bytes": None, **dict.fromkeys(PHASE_FIELDS)}
        if self.cuda:
            torch.cuda.synchronize()
            self.stats = torch.cuda.memory_stats()
            row |= {key: self.stats.get(stat, 0) for key, stat in PHASE_FIELDS.items()}
            row |= {"entries": len(trace_entries()), "device_used_bytes": device_used_bytes()}
            torch.cuda.reset_peak_memory_stats()
        self.rows.append(row)

    def mark(self, marks, name):
        """Where the forward and the backward of a step end, in allocations and frees so far."""
        if self.cuda:
            stats = torch.cuda.memory_stats()
            marks[name] = {key: stats[PHASE_FIELDS[key]] for key in ("allocations", "frees")}
        else:
            marks[name] = None


def blocks_by_call(step):
    """Every block asked for or given back while `step` runs: [bytes, negative where it is given back; address; bytes
    allocated and reserved after it; the operators open at that time on its thread, outermost first]."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
        step()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    rows, open_calls = [], collections.defaultdict(list)
    wanted = [e for e in events if e.get("cat") == "cpu_op" or e.get("name") == "[memory]"]
    for event in sorted(wanted, key=lambda e: (float(e["ts"]), -float(e.get("dur", 0)))):
        stack = open_calls[event["tid"]]
        while stack and stack[-1][1] < float(event["ts"]):
            stack.pop()
        if event["name"] != "[memory]":
            stack.append((event["name"], float(event["ts"]) + float(event["dur"])))
        elif event["args"]["Device Type"] == 1:  # CUDA
            given = event["args"]
            rows.append([given["Bytes"], given["Addr"], given.get("Total Allocated"), given.get("Total Reserved"),
                         " ".join(name for name, _ in stack)])
    return rows


# ------------------------------------------------------------------------------------- the calls

SHORT = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16",
         torch.int64: "i64", torch.int32: "i32", torch.uint8: "u8", torch.bool: "bool"}


def described(value):
    """A value as text: f32[8,3](strides, unless row-major), @cpu for scalars of the CPU on a GPU."""
    if isinstance(value, torch.Tensor):
        text = SHORT.get(value.dtype, str(value.dtype)) + str(list(value.shape)).replace(" ", "")
        if not value.is_contiguous():
            text += str(value.stride()).replace(" ", "")
        return text + ("@cpu" if value.device.type == "cpu" and torch.cuda.is_initialized() else "")
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    if isinstance(value, (torch.UntypedStorage, torch.TypedStorage)):  # whose text is all of its bytes
        return f"storage[{value.nbytes()}]"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value if not isinstance(value, float) or math.isfinite(value) else str(value)
    return str(value)


class Calls(TorchDispatchMode):
    """ATen calls below autograd in order: a table of distinct ones and its row for each call.

    On CUDA also what each call took for a while beyond what was there, and what it left.
    """

    def __init__(self, cuda):
        super().__init__()
        self.cuda = cuda
        self.rows, self.table, self.order = {}, [], []
        self.transient_bytes, self.kept_bytes = [], []
        self.marks = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if str(func).startswith("prim."):
            return func(*args, **kwargs)
        given = [described(x) for x in args]
        if kwargs:
            given.append({key: described(value) for key, value in kwargs.items()})
        before = self.allocated(True)
        result = func(*args, **kwargs)
        after = self.allocated(False)
        if self.cuda:
            self.transient_bytes.append(after["peak"] - before["current"])
            self.kept_bytes.append(after["current"] - before["current"])
        row = [str(func), given, described(result)]
        self.order.append(self.row_of(row))
        return result

    def allocated(self, reset):
        if not self.cuda:
            return None
        if reset:
            torch.cuda.reset_peak_memory_stats()
        return torch.cuda.memory.memory_stats_as_nested_dict()["allocated_bytes"]["all"]

    def row_of(self, row):
        key = json.dumps(row)
        if key not in self.rows:
            self.rows[key] = len(self.table)
            self.table.append(row)
        return self.rows[key]

    def mark(self, name):
        self.marks[name] = len(self.order)

    def result(self):
        sizes = (self.transient_bytes, self.kept_bytes) if self.cuda else (None, None)
        return {"table": self.table, "order": self.order, "ends": self.marks,
                "transient_bytes": sizes[0], "kept_bytes": sizes[1]}


BACKENDS = {-1: "error", 0: "math", 1: "flash", 2: "efficient", 3: "cudnn", 4: "overrideable"}
ATTENTION_ARGUMENTS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")


class Attention:
    """Every call of scaled_dot_product_attention with the backend that PyTorch chooses for it.

    It stands in the function's place: a TorchFunctionMode does not see what functions that can be
    overridden themselves, such as multi_head_attention_forward, call.
    """

    def __init__(self):
        self.calls = collections.Counter()
        self.original = functional.scaled_dot_product_attention

    def __enter__(self):
        functional.scaled_dot_product_attention = self.attend
        return self

    def __exit__(self, *_):
        functional.scaled_dot_product_attention = self.original

    def attend(self, *args, **kwargs):
        given = {**dict(zip(ATTENTION_ARGUMENTS, args)), **kwargs}
        with _disable_current_modes():
            seen = self.cast(given)
            backend = int(torch._fused_sdp_choice(**seen))
        row = {key: described(value) for key, value in seen.items()}
        row["requires_grad"] = torch.is_grad_enabled() and given["query"].requires_grad
        self.calls[json.dumps({**row, "backend": BACKENDS[backend]}, sort_keys=True)] += 1
        return self.original(*args, **kwargs)

    @staticmethod
    def cast(given):
        """As the call sees them: autocast changes them before the backend is chosen."""
        kind = given["query"].device.type
        if not torch.is_autocast_enabled(kind):
            return given
        dtype = torch.get_autocast_dtype(kind)

        def low(x):
            is_float = isinstance(x, torch.Tensor) and x.is_floating_point()
            return x.detach().to(dtype).requires_grad_(x.requires_grad) if is_float else x

        return {key: low(value) for key, value in given.items()}

    def result(self):
        return [{**json.loads(call), "count": count} for call, count in self.calls.items()]


# -------------------------------------------------------------------------------------- one case


def device_driver():
    """NVML's handle of the device, or None where there is no NVML."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
    except Exception:  # no driver, no package: then nothing is known, and said so by null
        return None


def driver_used_bytes():
    """What is used on the device before this process has a context."""
    found = device_driver() if DEVICE["alone"] else None
    return found and int(found[0].nvmlDeviceGetMemoryInfo(found[1]).used)


def package_versions():
    versions = {"python": platform.python_version()}
    for name in ("torch", "torchvision", "timm", "transformers", "triton", "nvidia-cudnn-cu13",
                 "nvidia-cublas", "nvidia-cuda-runtime"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def machine(device):
    cuda = device.type == "cuda"
    found = device_driver() if cuda else None
    properties = torch.cuda.get_device_properties(0) if cuda else None
    return {
        "versions": package_versions(),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version() if cuda else None,
        "driver": str(found[0].nvmlSystemGetDriverVersion()) if found else None,
        "device": properties.name if cuda else None,
        "device_total_bytes": properties.total_memory if cuda else None,
        "multiprocessors": properties.multi_processor_count if cuda else None,
        "capability": [properties.major, properties.minor] if cuda else None,
    }


def configure(variant, device):
    """The settings of a variant, before the first allocation. TF32 stays PyTorch's default."""
    torch.backends.cudnn.benchmark = variant != "no_benchmark"
    if variant == "expandable":
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
        if device.type == "cuda":
            torch.cuda.memory._set_allocator_settings("expandable_segments:True")


def warm_up_batches(case, small):
    """Batches of the steps before the first of the two steps: other shapes leave holes."""
    if case.variant != "fragmented":
        return ()
    batch = 2 if small else case.batch
    return max(1, batch // 2), batch + max(1, batch // 3), max(1, batch // 3)


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


# ---------------------------------------------------------------------------------------- probes


def used_and_reserved(device):
    if device.type != "cuda":
        return {"device_used_bytes": None, "reserved_bytes": None, "allocated_bytes": None}
    torch.cuda.synchronize()
    return {"device_used_bytes": device_used_bytes(), "reserved_bytes": torch.cuda.memory_reserved(),
            "allocated_bytes": torch.cuda.memory_allocated()}


def forward_and_backward(function, *tensors):
    result = function(*tensors)
    result = result[0] if isinstance(result, tuple) else result
    result.float().sum().backward()


def attention_with(backend, device, dtype):
    """One attention through the given backend; an error text where it cannot run."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.randn(2, 4, 256, 64, device=device, dtype=dtype, requires_grad=True) for _ in range(3))
    with sdpa_kernel(getattr(SDPBackend, backend)):
        functional.scaled_dot_product_attention(q, k, v).sum().backward()


def context_steps(device):
    """First uses in order: what each adds to the device's memory is its kernels' modules."""
    low, full = torch.bfloat16, torch.float32

    def made(*shape, dtype=full):
        return torch.randn(*shape, device=device, dtype=dtype, requires_grad=True)

    def optimizer(name):
        parameter = torch.nn.Parameter(torch.ones(64, 64, device=device))
        parameter.grad = torch.ones_like(parameter)
        OPTIMIZERS[name]([parameter]).step()

    layer = functools.partial(nn.LSTM, 64, 64, device=device)
    return {
        "first tensor": lambda: torch.zeros(1, device=device),
        "elementwise": lambda: torch.ones(64, device=device) * 2 + 1,
        "random numbers": lambda: made(64),
        "product fp32": lambda: made(256, 256) @ made(256, 256),
        "product bf16": lambda: made(256, 256, dtype=low) @ made(256, 256, dtype=low),
        "product backward": lambda: (made(256, 256) @ made(256, 256)).sum().backward(),
        "linear with bias": lambda: functional.linear(made(64, 256), made(256, 256), made(256)),
        "convolution fp32": lambda: functional.conv2d(made(2, 8, 32, 32), made(8, 8, 3, 3)),
        "convolution backward": lambda: functional.conv2d(made(2, 8, 32, 32), made(8, 8, 3, 3)).sum().backward(),
        "convolution bf16": lambda: functional.conv2d(made(2, 8, 32, 32, dtype=low), made(8, 8, 3, 3, dtype=low)).sum().backward(),
        "batch norm": lambda: nn.BatchNorm2d(8, device=device)(made(2, 8, 32, 32)).sum().backward(),
        "attention math": lambda: attention_with("MATH", device, low),
        "attention efficient": lambda: attention_with("EFFICIENT_ATTENTION", device, full),
        "attention flash": lambda: attention_with("FLASH_ATTENTION", device, low),
        "attention cudnn": lambda: attention_with("CUDNN_ATTENTION", device, low),
        "layer norm": lambda: functional.layer_norm(made(64, 64), (64,)).sum().backward(),
        "softmax and loss": lambda: functional.cross_entropy(made(64, 64), torch.zeros(64, dtype=torch.int64, device=device)).backward(),
        "embedding backward": lambda: functional.embedding(torch.zeros(64, dtype=torch.int64, device=device), made(64, 64)).sum().backward(),
        "sort": lambda: made(10000).sort(),
        "lstm": lambda: forward_and_backward(layer(), made(8, 2, 64)),
        "adam single": lambda: optimizer("adam_single"),
        "adam foreach": lambda: optimizer("adam_foreach"),
        "adam fused": lambda: optimizer("adam_fused"),
    }


def probe_context(small, device):
    """Device memory after the bare context and after each first use."""
    rows = [{"name": "before the context", "driver_used_bytes": driver_used_bytes() if device.type == "cuda" else None}]
    if device.type == "cuda":
        torch.cuda.init()
    rows.append({"name": "context", **used_and_reserved(device)})
    for name, use in context_steps(device).items():
        error = None
        try:
            use()
        except RuntimeError as found:
            error = first_line(found)
        rows.append({"name": name, **used_and_reserved(device), "error": error})
    return rows


def measured(device, function):
    """What one call takes, after one like it: sizes asked for in order, transient and kept bytes.

    Everything the function returns is alive when the kept bytes are read.
    """
    function()  # loads kernels and makes the cuBLAS workspaces
    if device.type != "cuda":
        function()
        return {"requests": None, "transient_bytes": None, "kept_bytes": None}
    torch.cuda.synchronize()
    start_history()
    first = len(trace_entries())
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    result = function()
    torch.cuda.synchronize()
    peak, after = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
    requests = [e["size"] for e in trace_entries()[first:] if e["action"] == "alloc"]
    torch.cuda.memory._record_memory_history(None)
    del result
    return {"requests": requests, "transient_bytes": peak - before, "kept_bytes": after - before}


def first_line(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300]


def measured_rows(device, named):
    """One row per (settings, maker of the call); a call that cannot run says why."""
    rows = []
    for settings, make in named:
        try:
            rows.append({**settings, **measured(device, make())})
        except RuntimeError as error:
            rows.append({**settings, "error": first_line(error)})
            if device.type == "cuda":
                torch.cuda.empty_cache()
    return rows


def grid(**axes):
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values))


def probe_sort(small, device):
    shapes = [(1000,), (2048,), (2049,), (10000,), (64, 1024), (64, 1025), (64, 5000)]
    shapes += [] if small else [(1000000,), (4000000,), (4096, 5000), (50000000,)]

    def sort(shape, dtype, kind):
        x = torch.randint(0, 1000, shape, device=device).to(getattr(torch, dtype))
        if kind == "topk":
            return lambda: x.topk(min(50, shape[-1]))
        return lambda: x.sort(stable=kind == "stable sort")

    axes = grid(shape=shapes, dtype=("float32", "bfloat16", "int64"), kind=("sort", "stable sort", "topk"))
    return measured_rows(device, ((s, functools.partial(sort, **s)) for s in axes))


def probe_index_put(small, device):
    counts = (16, 1000, 4096) + (() if small else (100000, 1000000))

    def put(count, width, rows, dtype):
        target = torch.zeros(rows, width, device=device, dtype=getattr(torch, dtype))
        index = torch.randint(0, rows, (count,), device=device)
        values = torch.ones(count, width, device=device, dtype=target.dtype)
        return lambda: target.index_put_((index,), values, accumulate=True)

    axes = grid(count=counts, width=(1, 64, 768), rows=(1000, 50000), dtype=("float32", "bfloat16"))
    return measured_rows(device, ((s, functools.partial(put, **s)) for s in axes))


def probe_embedding(small, device):
    tokens = (512, 3072, 3073) + (() if small else (8192, 65536, 262144))

    def embedding(tokens, width, rows, dtype, repeated):
        index = torch.randint(0, 10 if repeated else rows, (tokens,), device=device)
        grad = torch.ones(tokens, width, device=device, dtype=getattr(torch, dtype))
        return lambda: torch.ops.aten.embedding_dense_backward(grad, index, rows, -1, False)

    axes = grid(tokens=tokens, width=(128, 768), rows=(1000, 50257), dtype=("float32", "bfloat16"),
                repeated=(False, True))
    return measured_rows(device, ((s, functools.partial(embedding, **s)) for s in axes))


def attention_call(device, backend, dtype, head_size, heads, kv_heads, length, causal, masked, dropout, backward):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    kinds = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION"}
    q, k, v = (torch.randn(2, h, length, head_size, device=device, dtype=getattr(torch, dtype), requires_grad=True)
               for h in (heads, kv_heads, kv_heads))
    mask = torch.zeros(2, 1, length, length, device=device, dtype=q.dtype) if masked else None

    def forward():
        with sdpa_kernel(getattr(SDPBackend, kinds[backend])):
            return functional.scaled_dot_product_attention(
                q, k, v, mask, dropout, causal, enable_gqa=kv_heads != heads)

    def both():
        out = forward()
        return torch.autograd.grad(out, (q, k, v), torch.ones_like(out))

    return both if backward else forward


def probe_attention_scratch(small, device):
    lengths = (32, 96) if small else (128, 500, 1024, 4096)
    sizes = (32, 64) if small else (32, 64, 72, 80, 96, 128, 160, 256)
    return attention_scratch(device, ("efficient", "flash"), sizes, lengths)


def probe_attention_scratch_cudnn(small, device):
    """Few sizes: cuDNN compiles a kernel for each, which takes a second."""
    return attention_scratch(device, ("cudnn",), (32, 64) if small else (64, 128), (32, 96) if small else (500, 1024))


def attention_scratch(device, backends, sizes, lengths):
    axes = [s for s in grid(backend=backends, dtype=("bfloat16", "float32"),
                            head_size=sizes, heads=(8,), kv_heads=(8, 2), length=lengths,
                            causal=(False, True), masked=(False, True), dropout=(0.0, 0.1), backward=(False, True))
            if not (s["causal"] and s["masked"]) and (s["dtype"] == "bfloat16" or s["backend"] == "efficient")
            and not (s["kv_heads"] != s["heads"] and (s["masked"] or s["dropout"] or s["backend"] == "efficient"))
            and not (s["masked"] and s["backend"] == "flash") and not (s["dropout"] and s["causal"])]
    return measured_rows(device, ((s, functools.partial(attention_call, device, **s)) for s in axes))


def convolution_call(device, benchmark, dtype, channels_last, shape, backward):
    batch, channels_in, size, channels, kernel, stride, groups = shape
    layout = torch.channels_last if channels_last else torch.contiguous_format
    dtype = getattr(torch, dtype)
    x = torch.randn(batch, channels_in, size, size, device=device, dtype=dtype).to(memory_format=layout)
    weight = torch.randn(channels, channels_in // groups, kernel, kernel, device=device, dtype=dtype)
    weight = weight.to(memory_format=layout)
    out = functional.conv2d(x, weight, None, stride, kernel // 2, 1, groups)

    def forward():
        torch.backends.cudnn.benchmark = benchmark
        return functional.conv2d(x, weight, None, stride, kernel // 2, 1, groups)

    def gradients():
        torch.backends.cudnn.benchmark = benchmark
        return torch.ops.aten.convolution_backward(
            out, x, weight, None, [stride] * 2, [kernel // 2] * 2, [1, 1], False, [0, 0], groups,
            [True, True, False])

    return gradients if backward else forward


CONVOLUTIONS = (  # batch, channels in, size, channels out, kernel, stride, groups
    (2, 3, 32, 16, 7, 2, 1), (2, 16, 16, 16, 3, 1, 1), (2, 32, 16, 32, 3, 1, 32),
    (32, 3, 224, 64, 7, 2, 1), (32, 64, 56, 64, 1, 1, 1), (32, 64, 56, 64, 3, 1, 1),
    (32, 128, 28, 128, 3, 1, 1), (32, 256, 14, 256, 3, 1, 1), (32, 512, 7, 512, 3, 1, 1),
    (32, 256, 56, 512, 1, 2, 1), (8, 64, 256, 64, 3, 1, 1), (8, 1024, 16, 512, 3, 1, 1),
    (32, 96, 112, 96, 3, 2, 96), (16, 96, 56, 96, 7, 1, 96), (16, 3, 224, 768, 16, 16, 1),
    (32, 64, 56, 128, 3, 2, 32),
)


def probe_convolution(small, device):
    shapes = CONVOLUTIONS[:3] if small else CONVOLUTIONS
    axes = grid(benchmark=(False, True), dtype=("float32", "bfloat16"), channels_last=(False, True),
                shape=shapes, backward=(False, True))
    return measured_rows(device, ((s, functools.partial(convolution_call, device, **s)) for s in axes))


def normalization_call(device, kind, dtype, channels_last, shape, backward):
    x = torch.randn(shape, device=device, dtype=getattr(torch, dtype))
    if channels_last:
        x = x.to(memory_format=torch.channels_last)
    x.requires_grad_(True)
    if kind == "batch_norm":
        layer = nn.BatchNorm2d(shape[1], device=device)
    elif kind == "group_norm":
        layer = nn.GroupNorm(8, shape[1], device=device, dtype=x.dtype)
    else:
        layer = nn.LayerNorm(shape[-1], device=device, dtype=x.dtype)

    def both():
        out = layer(x)
        return torch.autograd.grad(out, (x, layer.weight, layer.bias), torch.ones_like(out))

    return both if backward else lambda: layer(x)


def probe_normalization(small, device):
    shapes = [(2, 16, 8, 8)] if small else [(32, 64, 112, 112), (32, 256, 56, 56), (32, 2048, 7, 7), (2, 64, 16, 16)]
    axes = list(grid(kind=("batch_norm", "group_norm"), dtype=("float32", "bfloat16", "float16"),
                     channels_last=(False, True), shape=shapes, backward=(False, True)))
    rows = (64,) if small else (4096, 65536, 65537, 262144)
    axes += grid(kind=("layer_norm",), dtype=("float32", "bfloat16"), channels_last=(False,),
                 shape=[(n, width) for n in rows for width in (64, 768, 4096) if n * width < 2**29],
                 backward=(False, True))
    return measured_rows(device, ((s, functools.partial(normalization_call, device, **s)) for s in axes))


def probe_recurrent(small, device):
    sizes = [(8, 2, 16, 16)] if small else [(128, 32, 1024, 1024), (35, 20, 650, 650), (512, 8, 256, 512)]

    def recurrent(kind, dtype, size, layers, bidirectional, dropout, batch_first, run):
        length, batch, width, hidden = size
        dtype = getattr(torch, dtype)
        layer = getattr(nn, kind)(width, hidden, layers, dropout=dropout, bidirectional=bidirectional,
                                  batch_first=batch_first, device=device, dtype=dtype)
        layer.train(run != "inference")
        shape = (batch, length, width) if batch_first else (length, batch, width)
        x = torch.randn(shape, device=device, dtype=dtype, requires_grad=run != "inference")

        def call():
            with torch.set_grad_enabled(run != "inference"):
                out, state = layer(x)
            if run != "forward and backward":
                return out, state
            return torch.autograd.grad(out, (x, *layer.parameters()), torch.ones_like(out))

        return call

    axes = (s for s in grid(kind=("LSTM", "GRU", "RNN"), dtype=("float32", "bfloat16"), size=sizes, layers=(1, 2),
                            bidirectional=(False, True), dropout=(0.0, 0.5), batch_first=(False, True),
                            run=("inference", "forward", "forward and backward"))
            if s["layers"] > 1 or not (s["dropout"] or s["batch_first"]))
    return measured_rows(device, ((s, functools.partial(recurrent, **s)) for s in axes))


def probe_reduction(small, device):
    """Reductions that are split over blocks, norms of lists, losses."""
    shapes = [(64, 64), (4096, 16)]
    shapes += [] if small else [(1000000,), (100000000,), (65536, 768), (768, 65536), (4, 10000000), (32, 3, 224, 224)]

    def reduce(kind, dtype, shape, dim):
        x = torch.randn(shape, device=device, dtype=getattr(torch, dtype))
        dims = {"all": None, "first": 0, "last": -1}[dim]
        return lambda: x.sum() if dims is None else x.sum(dims)

    axes = grid(kind=("sum",), dtype=("float32", "bfloat16"), shape=shapes, dim=("all", "first", "last"))
    rows = measured_rows(device, ((s, functools.partial(reduce, **s)) for s in axes))

    def loss(kind, dtype, rows, classes):
        x = torch.randn(rows, classes, device=device, dtype=getattr(torch, dtype), requires_grad=True)
        target = torch.randint(0, classes, (rows,), device=device)

        def both():
            return torch.autograd.grad(functional.cross_entropy(x, target), x)

        return both

    losses = grid(kind=("cross_entropy",), dtype=("float32", "bfloat16"), rows=(64, 2048), classes=(1000, 50257))
    rows += measured_rows(device, ((s, functools.partial(loss, **s)) for s in losses))

    def norms(kind, dtype, count, size):
        tensors = [torch.ones(size, device=device, dtype=getattr(torch, dtype)) for _ in range(count)]
        return lambda: torch._foreach_norm(tensors)

    lists = grid(kind=("foreach_norm",), dtype=("float32", "bfloat16"), count=(1, 100, 500), size=(1000, 65537, 300000))
    return rows + measured_rows(device, ((s, functools.partial(norms, **s)) for s in lists))


def probe_cublas(small, device):
    """The workspaces of the two handles: of the main thread and of the backward's thread."""

    def held():
        return torch.cuda.memory_allocated() if device.type == "cuda" else None

    def forward(kind, a, w, b):
        return functional.linear(a, w, b) if kind == "linear with bias" else a @ w

    rows = []
    for kind, dtype in itertools.product(("product", "linear with bias"), ("float32", "bfloat16")):
        a, w = (torch.randn(512, 512, device=device, dtype=getattr(torch, dtype), requires_grad=True) for _ in "aw")
        b = torch.randn(512, device=device, dtype=getattr(torch, dtype), requires_grad=True)
        for tensor in (a, w, b):
            tensor.grad = torch.zeros_like(tensor)  # so that the backward adds in place and keeps nothing
        if device.type == "cuda":
            torch._C._cuda_clearCublasWorkspaces()
        start = held()
        loss = forward(kind, a, w, b).sum()
        after_forward = held()
        loss.backward()
        after_backward = held()
        del loss
        after_drop = held()
        if device.type == "cuda":
            torch._C._cuda_clearCublasWorkspaces()
        rows.append({"kind": kind, "dtype": dtype, "allocated_bytes": {
            "before": start, "forward": after_forward, "backward": after_backward,
            "loss dropped": after_drop, "workspaces cleared": held()}})
    return rows


CHOICE_AXES = {
    "dtype": ("float32", "bfloat16", "float16"),
    "head_size": (16, 20, 36, 64, 72, 80, 96, 128, 132, 160, 192, 256, 264),
    "heads": ((8, 8), (8, 2), (8, 1)),
    "lengths": ((1, 1), (1, 128), (128, 1), (128, 128), (127, 127), (128, 256), (2048, 2048)),
    "mask": ("none", "causal", "bool", "float", "float 2-D", "float per head", "float with grad"),
    "dropout": (0.0, 0.1, 0.5),
    "requires_grad": (False, True),
    "layout": ("BHSD", "BSHD"),
}


def choice(device, dtype, head_size, heads, lengths, mask, dropout, requires_grad, layout):
    dtype = getattr(torch, dtype)

    def made(count, length):
        if layout == "BSHD":
            return torch.empty(2, length, count, head_size, device=device, dtype=dtype).transpose(1, 2)
        return torch.empty(2, count, length, head_size, device=device, dtype=dtype)

    q, k, v = made(heads[0], lengths[0]), made(heads[1], lengths[1]), made(heads[1], lengths[1])
    shapes = {"bool": (2, 1, *lengths), "float": (2, 1, *lengths), "float 2-D": lengths,
              "float per head": (2, heads[0], *lengths), "float with grad": (2, 1, *lengths)}
    given = None
    if mask in shapes:
        given = torch.empty(shapes[mask], device=device, dtype=torch.bool if mask == "bool" else dtype)
        given.requires_grad_(mask == "float with grad")
    for tensor in (q, k, v):
        tensor.requires_grad_(requires_grad)
    return int(torch._fused_sdp_choice(q, k, v, given, dropout, mask == "causal", enable_gqa=heads[0] != heads[1]))


def probe_attention_choice(small, device):
    """One letter per point of the grid, the last axis running fastest."""
    axes = dict(CHOICE_AXES)
    if small:
        axes |= {"head_size": (20, 64), "lengths": ((1, 128), (128, 128))}
    letters = {"error": "x", **{name: name[0] for name in BACKENDS.values() if name != "error"}}

    def letter(point):
        try:
            return letters[BACKENDS[choice(device, **point)]]
        except RuntimeError:
            return "x"

    return {"axes": axes, "letters": letters, "choices": "".join(letter(p) for p in grid(**axes))}


def probe_recurrent_sizes(small, device):
    """One size after the other is varied: what cuDNN's workspaces depend on. length, batch, width in, hidden."""
    base = (16, 4, 32, 48) if small else (64, 32, 512, 768)
    sizes = [base] + ([] if small else [
        (1, 32, 512, 768), (7, 32, 512, 768), (128, 32, 512, 768), (300, 32, 512, 768), (64, 1, 512, 768),
        (64, 5, 512, 768), (64, 64, 512, 768), (64, 200, 512, 768), (64, 32, 64, 768), (64, 32, 2048, 768),
        (64, 32, 300, 768), (64, 32, 512, 128), (64, 32, 512, 500), (64, 32, 512, 1536), (20, 3, 17, 31)])
    forms = ((1, False), (3, False), (1, True), (2, True))

    def recurrent(kind, dtype, size, layers, bidirectional, run):
        length, batch, width, hidden = size
        dtype = getattr(torch, dtype)
        layer = getattr(nn, kind)(width, hidden, layers, bidirectional=bidirectional, device=device, dtype=dtype)
        layer.train(run != "inference")
        x = torch.randn(length, batch, width, device=device, dtype=dtype, requires_grad=run != "inference")

        def call():
            with torch.set_grad_enabled(run != "inference"):
                return layer(x)

        return call

    axes = [{"kind": kind, "dtype": dtype, "size": size, "layers": layers, "bidirectional": both, "run": run}
            for kind, dtype, size, (layers, both), run in itertools.product(
                ("LSTM", "GRU", "RNN"), ("float32", "bfloat16"), sizes, forms, ("inference", "forward"))
            if size == base or layers + both != 2]
    return measured_rows(device, ((s, functools.partial(recurrent, **s)) for s in axes))


DESCRIBED = re.compile(r"(\w+)(\[[\d,]*\])(\([\d,]*\))?$")


def made_as_described(text, device):
    """The reverse of `described`, for tensors."""
    name, sizes, strides = DESCRIBED.match(text).groups()
    dtype = next(dtype for dtype, short in SHORT.items() if short == name)
    sizes = json.loads(sizes)
    if not strides:
        return torch.randn(sizes, device=device).to(dtype)
    strides = [int(stride) for stride in strides.strip("()").split(",") if stride]
    return torch.empty_strided(sizes, strides, device=device, dtype=dtype).normal_()


def recorded_convolutions(model):
    """Distinct calls of convolutions in the recorded steps of a model: data/<model>.zip."""
    calls = {}
    path = pathlib.Path(__file__).resolve().parent / "data" / f"{model}.zip"
    with zipfile.ZipFile(path) as files:
        for name in files.namelist():
            if name.startswith("case-") and name.endswith("/calls.json"):
                for row in json.loads(files.read(name))["table"]:
                    if row[0].startswith("aten.convolution"):
                        calls[json.dumps(row[:2])] = row[:2]
    return list(calls.values())


def probe_convolutions_of(model, small, device):
    """Every distinct convolution of the recorded steps as a single call, without cuDNN's benchmark."""
    def convolution(call):
        name, texts = call
        given = [made_as_described(x, device) if isinstance(x, str) else x for x in texts]
        function = getattr(torch.ops.aten, name.split(".")[1]).default
        return lambda: function(*given)

    calls = recorded_convolutions(model)
    calls = calls[:2] if small else calls
    return measured_rows(device, (({"call": call}, functools.partial(convolution, call)) for call in calls))


WITH_CONVOLUTIONS = ("clip", "convnext_tiny", "efficientnet_b0", "resnet50", "swin_t", "unet", "vit_b_16", "whisper_base")

PROBES = {
    "context": probe_context,
    "cublas": probe_cublas,
    "attention_choice": probe_attention_choice,
    "attention_scratch": probe_attention_scratch,
    "attention_scratch_cudnn": probe_attention_scratch_cudnn,
    "convolution": probe_convolution,
    "normalization": probe_normalization,
    "recurrent": probe_recurrent,
    "embedding": probe_embedding,
    "index_put": probe_index_put,
    "sort": probe_sort,
    "reduction": probe_reduction,
    "recurrent_sizes": probe_recurrent_sizes,
    **{f"convolutions_{model}": functools.partial(probe_convolutions_of, model) for model in WITH_CONVOLUTIONS},
}
PROBE_SECONDS = 12


def record_probe(name, small, device, wait_for_device):
    wait_for_device()
    started = time.monotonic()
    torch.backends.cudnn.benchmark = False
    rows = PROBES[name](small, device)
    return {"probe": name, "small": small, "status": "ok", "machine": machine(device), "rows": rows,
            "seconds": round(time.monotonic() - started, 2)}, {}


# ----------------------------------------------------------------------------- exported programs

WEIGHT = re.compile(r"data/weights/weight_\d+$")
SAMPLE_INPUTS = re.compile(r"data/sample_inputs/.*\.pt$")
SAMPLE_INPUTS_LIMIT = 65536  # bytes; larger ones are left out of the file
EXPORT_SECONDS = 20


def keep_fake_sharing():
    """Lets fake weights be saved: PyTorch gives all of them the same storage pointer here."""
    from torch.export.pt2_archive import _package_weights

    original = _package_weights.TensorProperties.__init__

    def with_storage_identity(self, tensor):
        original(self, tensor)
        if self.is_fake:
            self.storage_ptr = tensor.untyped_storage()._cdata

    _package_weights.TensorProperties.__init__ = with_storage_identity


def real_zeros(tensor):
    return torch.zeros(tensor.shape, dtype=tensor.dtype) if isinstance(tensor, torch.Tensor) else tensor


def archive_without_weights(program, name):
    """The .pt2 file of a program on fake tensors, as bytes: what torch.export.save writes, without
    the weights and without the folders of this machine."""
    from torch._subclasses.fake_tensor import FakeTensor

    keep_fake_sharing()
    args, kwargs = program.example_inputs
    program._example_inputs = (tuple(real_zeros(x) for x in args), kwargs)
    for key, constant in program.constants.items():
        if isinstance(constant, FakeTensor):
            program.constants[key] = real_zeros(constant)
    whole, bare = io.BytesIO(), io.BytesIO()
    torch.export.save(program, whole)
    folders = (*site.getsitepackages(), str(pathlib.Path(torch.__file__).parent.parent),
               str(pathlib.Path(__file__).resolve().parent))
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(bare, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for record in source.namelist():
            data = source.read(record)
            if WEIGHT.search(record) or (SAMPLE_INPUTS.search(record) and len(data) > SAMPLE_INPUTS_LIMIT):
                continue
            if record.endswith(".json"):
                for folder in folders:
                    data = data.replace(folder.encode() + b"/", b"")
            out.writestr(f"{name}/{record.partition('/')[2]}", data)
    return bare.getvalue()


def cast_on_fake(module, dtype, memory_format=torch.preserve_format):
    """What Module.to(dtype, memory_format=...) does; it refuses fake tensors."""
    made = {}  # a tied parameter stays one

    def cast(tensor):
        if tensor is None or not tensor.is_floating_point():
            return tensor
        if id(tensor) not in made:
            layout = memory_format if tensor.dim() == 4 else torch.preserve_format
            changed = tensor.detach().to(dtype).to(memory_format=layout)
            made[id(tensor)] = nn.Parameter(changed) if isinstance(tensor, nn.Parameter) else changed
        return made[id(tensor)]

    for one in module.modules():
        one._parameters.update({name: cast(tensor) for name, tensor in one._parameters.items()})
        one._buffers.update({name: cast(tensor) for name, tensor in one._buffers.items()})


def record_export(name, small, device, wait_for_device):
    """The training program in fp32 or bf16 with the loss as its result; it needs no GPU."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    model_name, batch, dtype = re.fullmatch(r"(.+)-b(\d+)-(fp32|bf16)", name).groups()
    case = Case(model_name, "fp32", "backward", False, int(batch))
    started = time.monotonic()
    batch = 2 if small else case.batch
    try:
        with FakeTensorMode():
            task, _ = build(case, small)
            case = dataclasses.replace(case, dtype=dtype)
            if dtype == "bf16":
                cast_on_fake(task, torch.bfloat16)
            inputs = make_inputs(case, small, batch, "cpu")
    except torch._subclasses.fake_tensor.DataDependentOutputException:  # a constructor reads numbers
        case = dataclasses.replace(case, dtype=dtype)
        task, _ = build(case, small)
        inputs = make_inputs(case, small, batch, "cpu")
    for module in task.modules():
        if hasattr(module, "layerdrop"):  # tosses for each layer, and no program has that
            module.training = False
    program = torch.export.export(task, inputs, strict=False)
    record = {"export": name, "small": small, "status": "ok", "versions": package_versions(),
              "inputs": [described(x) for x in inputs], "seconds": round(time.monotonic() - started, 2)}
    return record, {"program.pt2": archive_without_weights(program, name)}


# ------------------------------------------------------------------------------------- processes


@dataclasses.dataclass(frozen=True)
class Job:
    kind: str  # case, probe, export
    name: str
    what: object
    seconds: float

    @property
    def path(self):
        return f"{self.kind}-{self.name}.zip"


def all_jobs():
    """In the order of their worth, should the time not suffice."""
    cases = [Job("case", case.name, case, case.seconds) for case in all_cases()]
    base = [job for job in cases if job.what.variant in ("base", "again")]
    probes = [Job("probe", name, name, PROBE_SECONDS) for name in PROBES]
    exports = [Job("export", name, name, EXPORT_SECONDS) for name in
               (f"{model}-b{batch}-{dtype}" for model in MODELS for batch in MODELS[model].batches for dtype in ("fp32", "bf16"))]
    return base + probes + exports + [job for job in cases if job not in base]


def write_result(folder, job, record, files):
    """Whole or not at all: a process may be stopped at any time."""
    path = folder / job.path
    half = path.with_suffix(".half")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, data in {"record.json": json.dumps(record).encode(), **files}.items():
            out.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
    half.rename(path)


def failure(job, status, text):
    what = dataclasses.asdict(job.what) if job.kind == "case" else job.what
    return {job.kind: what, "status": status, "error": text}


RECORDERS = {"case": record_case, "probe": record_probe, "export": record_export}


SILENT_SECONDS = 25  # a process that takes longer prints where it stands


def run_job(job, folder, small, device_name, alone, connection):
    """The whole of one process."""
    preload(job.kind)
    faulthandler.dump_traceback_later(SILENT_SECONDS)
    DEVICE["alone"] = alone
    device = torch.device(device_name)
    if device.type == "cpu":
        torch.set_num_threads(1)

    def wait_for_device():
        connection.send("ready")
        connection.recv()

    try:
        record, files = RECORDERS[job.kind](job.what, small, device, wait_for_device)
    except torch.OutOfMemoryError as error:
        record, files = failure(job, "out of memory", first_line(error)), {}
    except Exception as error:
        record, files = failure(job, "error", first_line(error)), {}
        traceback.print_exc()
    write_result(pathlib.Path(folder), job, record, files)
    sys.stdout.flush()
    os._exit(0)  # without the destructors of the driver: the kernel returns the memory sooner


def define_torchvision_operators():
    """Lets a torchvision without its compiled operators be imported: no model here calls them."""
    if importlib.metadata.version("torch").endswith("+cpu"):
        library = torch.library.Library("torchvision", "FRAGMENT")
        define_torchvision_operators.library = library  # they live as long as it
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


PRELOADED = False


def preload(kind=None):
    """Imports what every process needs; a forked one finds it there."""
    global PRELOADED
    if PRELOADED:
        return
    PRELOADED = True
    leave_matrices_unfilled()
    if kind == "probe":
        return
    define_torchvision_operators()
    import timm  # noqa: F401
    import torchvision.models  # noqa: F401
    import transformers

    for name in ("BertForMaskedLM", "GPT2LMHeadModel", "T5ForConditionalGeneration", "LlamaForCausalLM",
                 "MistralForCausalLM", "Qwen2ForCausalLM", "MixtralForCausalLM", "CLIPModel",
                 "WhisperForConditionalGeneration"):
        getattr(transformers, name)


def start_cuda():
    torch.cuda.init()
    os._exit(0)


def start_method(options):
    """fork, which saves the imports, if a forked process can use CUDA; else spawn."""
    if options.start != "fork" or options.device == "cpu":
        return options.start
    process = multiprocessing.get_context("fork").Process(target=start_cuda)
    process.start()
    process.join(60)
    if process.exitcode == 0:
        return "fork"
    print("a forked process cannot use CUDA: every case imports for itself", flush=True)
    return "spawn"


class Running:
    """One process and where it stands."""

    def __init__(self, context, job, options):
        self.job = job
        self.connection, there = context.Pipe()
        arguments = (job, str(options.out), options.small, options.device, options.lanes == 1, there)
        self.process = context.Process(target=run_job, args=arguments)
        self.process.start()
        there.close()
        self.started = time.monotonic()
        self.state = "preparing"

    def look(self):
        """The process asks for the device once; its end closes the pipe."""
        try:
            if self.state == "preparing" and self.connection.poll():
                self.connection.recv()
                self.state = "ready"
        except (EOFError, OSError):
            pass

    def give_device(self):
        self.connection.send("go")
        self.state = "has the device"
        self.started = time.monotonic()

    def late(self, limit):
        return self.state != "ready" and time.monotonic() - self.started > limit


def status_of(folder, job):
    try:
        with zipfile.ZipFile(folder / job.path) as archive:
            return json.loads(archive.read("record.json"))["status"]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None


def finish(running, options, counts):
    job = running.job
    running.process.join()
    if status_of(options.out, job) is None:
        code = running.process.exitcode
        write_result(options.out, job, failure(job, "stopped", f"the process ended with {code}"), {})
    status = status_of(options.out, job)
    counts[status] += 1
    spent = time.monotonic() - running.started
    print(f"{sum(counts.values()):4d} {job.kind} {job.name}: {status}, {spent:.1f} s", flush=True)


def run_all(jobs, options):
    """At most options.lanes processes use the device at a time, each from its first CUDA call to
    its end; others build their models meanwhile."""
    preload()
    context = multiprocessing.get_context(start_method(options))
    waiting, running, counts = collections.deque(jobs), [], collections.Counter()
    until = time.monotonic() + 60 * options.minutes
    while waiting or running:
        while waiting and len(running) < options.jobs and time.monotonic() < until:
            running.append(Running(context, waiting.popleft(), options))
        for one in running:
            one.look()
        having = sum(one.state == "has the device" for one in running)
        for one in [r for r in running if r.state == "ready"][:max(0, options.lanes - having)]:
            one.give_device()
        for one in [r for r in running if r.late(options.limit)]:
            one.process.kill()
            one.process.join()
            write_result(options.out, one.job, failure(one.job, "time limit", f"{options.limit} s"), {})
        for one in [r for r in running if not r.process.is_alive()]:
            running.remove(one)
            finish(one, options, counts)
        if not running and time.monotonic() >= until:
            break
        time.sleep(0.01)
    print(f"{dict(counts)}; {len(waiting)} left", flush=True)
    return counts


# ---------------------------------------------------------------------------------- command line


def collect(source, target):
    """One archive per model and one of the probes, for the repository; what is there of other jobs stays."""
    target.mkdir(parents=True, exist_ok=True)
    groups = collections.defaultdict(list)
    for job in all_jobs():
        if (source / job.path).exists():
            groups["probes" if job.kind == "probe" else re.split("-", job.name)[0]].append(job)
    for group, jobs in groups.items():
        path, before = target / f"{group}.zip", {}
        if path.exists():
            with zipfile.ZipFile(path) as old:
                before = {name: old.read(name) for name in old.namelist()}
        replaced = {f"{job.kind}-{job.name}" for job in jobs}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
            for name, data in before.items():
                if name.partition("/")[0] not in replaced:
                    out.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
            for job in jobs:
                with zipfile.ZipFile(source / job.path) as one:
                    for name in one.namelist():
                        info = zipfile.ZipInfo(f"{job.kind}-{job.name}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
                        out.writestr(info, one.read(name), zipfile.ZIP_DEFLATED, 9)
    size = sum(path.stat().st_size for path in target.glob("*.zip"))
    print(f"{sum(map(len, groups.values()))} results in {len(groups)} files, {size} bytes")


def print_list(jobs):
    for job in jobs:
        print(f"{job.kind:6} {job.name} ~{job.seconds:g} s")
    total = collections.Counter()
    for job in jobs:
        total[job.kind] += job.seconds
    count = collections.Counter(job.kind for job in jobs)
    for kind in count:
        print(f"{count[kind]} of kind {kind}: about {total[kind] / 60:.1f} minutes, one at a time")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results; those there are skipped")
    parser.add_argument("--list", action="store_true", help="print what would run")
    parser.add_argument("--collect", type=pathlib.Path, metavar="FOLDER", help="write the archives for the repository")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true", help="small models and batches of 2")
    parser.add_argument("--only", default="", metavar="REGEX", help="jobs whose kind-name it finds")
    parser.add_argument("--retry", action="store_true", help="run again what has another status than ok")
    parser.add_argument("--jobs", type=int, default=4, help="processes at a time")
    parser.add_argument("--lanes", type=int, default=1, help="of these on the device; device_used_bytes is null with more than 1")
    parser.add_argument("--limit", type=float, default=90, help="seconds for one process")
    parser.add_argument("--minutes", type=float, default=8, help="start nothing after that")
    parser.add_argument("--start", choices=("fork", "spawn"), default="fork")
    return parser.parse_args()


def main():
    options = arguments()
    jobs = [job for job in all_jobs() if re.search(options.only, f"{job.kind}-{job.name}")]
    if options.list:
        return print_list(jobs)
    if not options.out:
        sys.exit("record_memory.py: expected --out FOLDER for the results")
    if options.collect:
        return collect(options.out, options.collect)
    options.out.mkdir(parents=True, exist_ok=True)
    done = {job.name for job in jobs
            if (status := status_of(options.out, job)) and (status == "ok" or not options.retry)}
    left = [job for job in jobs if job.name not in done]
    print(f"{len(jobs)} jobs, {len(jobs) - len(left)} done before", flush=True)
    counts = run_all(left, options)
    sys.exit(0 if set(counts) <= {"ok"} else 1)


if __name__ == "__main__":
    main()

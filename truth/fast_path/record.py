#!/usr/bin/env python3
"""Writes calls.json: what the fast path of nn.MultiheadAttention and nn.TransformerEncoderLayer calls
inside, and when the memory of it comes and goes, by PyTorch's CUDA build.

Usage: python3 truth/fast_path/record.py PYTHON CUDA_INCLUDE

PYTHON has torch 2.13.0 with CUDA, which runs on the GPU that computes nothing of ../h200/fake_gpu.cpp,
without cuDNN's attention. `calls` has the calls below the operator that compute or copy, with the
sizes of their tensors (a list of tensors has none); `live_bytes` the bytes that were asked for and
not given back, after each request of the allocator, without what was there before.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SIZES = {"batch": 3, "length": 16, "width": 64, "heads": 4, "inner": 128}
ATTENTION, LAYER = "_native_multi_head_attention", "_transformer_encoder_layer_fwd"
CASES = {
    "weights": {"op": ATTENTION, "need_weights": True, "average": True},
    "weights_of_each_head": {"op": ATTENTION, "need_weights": True, "average": False},
    "no_weights": {"op": ATTENTION},
    "mask_of_each_head": {"op": ATTENTION, "mask": "float32[3,4,16,16]", "mask_type": 2},
    "padding_and_weights": {"op": ATTENTION, "mask": "bool[3,16]", "mask_type": 1, "need_weights": True,
                            "average": True},
    "key_is_value": {"op": ATTENTION, "inputs": 2},
    "three_inputs": {"op": ATTENTION, "inputs": 3, "need_weights": True, "average": True},
    "heads_of_five": {"op": ATTENTION, "width": 20},
    "heads_of_four": {"op": ATTENTION, "width": 16},
    "half": {"op": ATTENTION, "dtype": "float16"},
    "half_with_mask": {"op": ATTENTION, "dtype": "float16", "mask": "bool[16,16]", "mask_type": 0},
    "layer": {"op": LAYER},
    "layer_norm_first": {"op": LAYER, "norm_first": True, "gelu": True},
    "layer_with_padding": {"op": LAYER, "mask": "float32[3,16]", "mask_type": 1},
    "layer_with_mask": {"op": LAYER, "mask": "bool[16,16]", "mask_type": 0, "norm_first": True},
    "half_layer": {"op": LAYER, "dtype": "bfloat16"},
}
# Calls that are not recorded: they only name, allocate or view, or make other calls that are.
LEFT_OUT = (
    "view", "t", "transpose", "as_strided", "chunk", "split", "narrow", "slice", "reshape", "permute", "select",
    "_unsafe_view", "unbind", "expand", "empty", "empty_like", "empty_strided", "copy_", "contiguous", "to", "linear",
    "matmul", "layer_norm", "scaled_dot_product_attention", "_efficient_attention_forward",
    "_flash_attention_forward", "split_with_sizes", "unsqueeze", "detach", "resize_", ATTENTION, LAYER,
)


def arguments_of(case):
    import torch

    of = {**SIZES, **case}
    width, heads, inner = of["width"], of["heads"], of["inner"]

    def tensor(*sizes):
        return torch.zeros(sizes, device="cuda", dtype=getattr(torch, of.get("dtype", "float32")))

    mask = None
    if "mask" in of:
        dtype, sizes = of["mask"].rstrip("]").split("[")
        mask = torch.zeros([int(n) for n in sizes.split(",")], device="cuda", dtype=getattr(torch, dtype))
    inputs = [tensor(of["batch"], of["length"], width) for _ in range(of.get("inputs", 1))]
    projections = [tensor(3 * width, width), tensor(3 * width), tensor(width, width), tensor(width)]
    if of["op"] == ATTENTION:
        return [inputs[0], inputs[min(1, len(inputs) - 1)], inputs[-1], width, heads, *projections, mask,
                of.get("need_weights", False), of.get("average", False), of.get("mask_type")]
    norms = [tensor(width) for _ in range(4)]
    layers = [tensor(inner, width), tensor(inner), tensor(width, inner), tensor(width)]
    return [inputs[0], width, heads, *projections, of.get("gelu", False), of.get("norm_first", False), 1e-5, *norms,
            *layers, mask, of.get("mask_type")]


def calls_in(event):
    """Depth first, in the order of time."""
    found = []
    name = event.name.removeprefix("aten::")
    if event.name.startswith("aten::") and name not in LEFT_OUT:
        shapes = [shape for shape in event.input_shapes if shape]
        return [f"{name}{json.dumps(shapes).replace(' ', '')}"]
    for child in event.cpu_children:
        found += calls_in(child)
    return found


def live_bytes(function):
    import torch

    torch.cuda.memory._record_memory_history("all", context=None, stacks="python", max_entries=10000, clear_history=True)
    result = function()
    events = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(None)
    del result  # Alive until here.
    live, sums = 0, []
    for event in events:
        if event["action"] == "alloc":
            live += event["size"]
            sums.append(live)
        elif event["action"] == "free_requested":
            live -= event["size"]
    return sums


def record(case):
    import torch
    from torch.profiler import ProfilerActivity, profile

    arguments = arguments_of(case)
    operator = getattr(torch.ops.aten, case["op"])
    with torch.no_grad():
        operator(*arguments)  # cuBLAS's workspaces stay.
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
            operator(*arguments)
        sums = live_bytes(lambda: operator(*arguments))
    calls = [call for event in profiler.events() if event.cpu_parent is None for call in calls_in(event)]
    return {"of": {**SIZES, **case}, "calls": calls, "live_bytes": sums}


def on_fake_gpu():
    lines = [f' "{name}": {json.dumps(record(case))}' for name, case in CASES.items()]
    (HERE / "calls.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    python, include = sys.argv[1:]
    sys.path.insert(0, str(HERE.parent / "h200"))
    import rehearse

    with tempfile.TemporaryDirectory() as folder:
        environment = rehearse.environment_on_fake_gpu(
            python, include, folder, TORCH_CUDNN_SDPA_DEPRIORITIZED="1", PYTORCH_NVML_BASED_CUDA_CHECK="1",
            FAST_PATH_ON_FAKE_GPU="1")
        sys.exit(subprocess.run([python, __file__], env=environment).returncode)


if __name__ == "__main__":
    on_fake_gpu() if os.environ.get("FAST_PATH_ON_FAKE_GPU") else main()

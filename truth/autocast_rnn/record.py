#!/usr/bin/env python3
"""Writes calls.json: what cuDNN's recurrent layers call, under autocast and without, by PyTorch's CUDA build.

Usage: python3 truth/autocast_rnn/record.py PYTHON CUDA_INCLUDE

PYTHON has torch 2.13.0 with CUDA, which runs on the GPU that computes nothing of ../h200/fake_gpu.cpp
and on fake_cudnn.cpp. Of each case the ATen calls on the device, forward and backward, but those
that only make or name a view; tensors as dtype[sizes], inputs of the layer itself too.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = {
    "lstm": ("LSTM", dict(input_size=16, hidden_size=24)),
    "two_layers_both_ways": ("LSTM", dict(input_size=16, hidden_size=24, num_layers=2, bidirectional=True)),
    "projected": ("LSTM", dict(input_size=16, hidden_size=24, proj_size=8)),
    "gru_without_bias": ("GRU", dict(input_size=16, hidden_size=24, bias=False)),
    "rnn": ("RNN", dict(input_size=16, hidden_size=24, nonlinearity="relu")),
}
WRITTEN = ("aten::zeros", "aten::copy_", "aten::_to_copy", "aten::_cudnn_rnn", "aten::_cudnn_rnn_backward")
RESERVE = 3  # The output of _cudnn_rnn whose size only cuDNN knows


def text(tensor):
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}".replace(" ", "")


def record(name, dtype):
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    calls = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            results = func(*args, **(kwargs or {}))
            op = func._schema.name
            if op in WRITTEN:
                outputs = list(results) if isinstance(results, (list, tuple)) else [results]
                if op == "aten::_cudnn_rnn":
                    outputs[RESERVE] = None
                tensors = [x for x in tree_leaves(outputs) if isinstance(x, torch.Tensor)]
                call = {"op": op, "outputs": [text(x) for x in tensors]}
                if op == "aten::_cudnn_rnn":
                    call["inputs"] = [text(x) for x in tree_leaves(args) if isinstance(x, torch.Tensor)]
                calls.append(call)
            return results

    kind, options = CASES[name]
    module = getattr(torch.nn, kind)(**options).cuda()
    x = torch.zeros(5, 3, 16, device="cuda")
    with torch.autocast("cuda", getattr(torch, dtype), enabled=dtype != "float32"):
        with Watch():
            output, _ = module(x)
    forward, calls = calls, []
    with Watch():
        output.backward(torch.ones_like(output))
    return {"module": kind, "options": options, "autocast": dtype, "input": text(x), "forward": forward,
            "backward": calls}


def on_fake_gpu():
    import torch

    torch.backends.cudnn.m._init = lambda: True  # Whatever version libcudnn has: nothing of it runs.
    records = {f"{name}_{dtype}": record(name, dtype) for name in CASES for dtype in ("float16", "bfloat16", "float32")}
    lines = []
    for name, found in records.items():
        rows = [f'   {json.dumps(found.pop(key))}' for key in ("forward", "backward")]
        lines.append(f' "{name}": {{\n  "of": {json.dumps(found)},\n  "forward":\n{rows[0]},\n  "backward":\n{rows[1]}}}')
    (HERE / "calls.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    python, include = sys.argv[1:]
    sys.path.insert(0, str(HERE.parent / "h200"))
    import rehearse

    with tempfile.TemporaryDirectory() as folder:
        fake_cudnn = pathlib.Path(folder, "fake_cudnn.so")
        rehearse.compile_library(HERE / "fake_cudnn.cpp", fake_cudnn)
        environment = rehearse.environment_on_fake_gpu(python, include, folder, [fake_cudnn], RNN_ON_FAKE_GPU="1")
        sys.exit(subprocess.run([python, __file__], env=environment).returncode)


if __name__ == "__main__":
    on_fake_gpu() if os.environ.get("RNN_ON_FAKE_GPU") else main()

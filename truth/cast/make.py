"""What PyTorch says of small models that were built in bf16, or run under autocast, beside the files that export
them in fp32: cast.json and tests/zoo/foreign/cast_*. README.md of truth/ has the fields.

    venv/bin/python truth/cast/make.py [FOLDER]
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import fake_cuda  # noqa: E402

fake_cuda.load()

import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from fake_models import Mover  # noqa: E402
import measure  # noqa: E402
import models  # noqa: E402

FIGURES = ("saved_bytes",)


class Autocast(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        torch.set_autocast_enabled("cuda", True)  # torch.autocast asks whether there is a GPU.
        torch.set_autocast_dtype("cuda", torch.bfloat16)
        try:
            return self.module(*inputs)
        finally:
            torch.clear_autocast_cache()
            torch.set_autocast_enabled("cuda", False)


def figures(name, dtype, autocast=False):
    module, inputs = models.build()[name]
    with FakeTensorMode(), torch.device("cuda"):
        mover = Mover(dtype)
        module = mover.module(module)
        inputs = [mover.tensor(x) for x in inputs]
        if autocast:
            module = Autocast(module)
        forward, backward = measure.flops_by_op(module, inputs)
        saved = measure.saved(module, inputs)
    return {"fwd_flops": sum(forward.values()), "bwd_flops": sum(backward.values()),
            **{key: saved[key] for key in FIGURES}}


def write(name, folder):
    module, inputs = models.build()[name]
    module.train()
    program = torch.export.export(module, inputs)
    torch.export.save(program, folder / f"cast_{name}.pt2")
    torch.jit.save(torch.jit.trace(module, inputs, check_trace=False), folder / f"cast_{name}.pt")
    try:
        torch.onnx.export(module, inputs, str(folder / f"cast_{name}.onnx"), dynamo=False,
                          training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
    except Exception as error:  # Packages of the exporter may be missing.
        print(f"{name}.onnx: {error}", file=sys.stderr)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent.parent / "tests/zoo/foreign"
    found = {}
    for name in models.build():
        write(name, folder)
        found[name] = {"fp32": figures(name, torch.float32), "bf16": figures(name, torch.bfloat16),
                       "fp16": figures(name, torch.float16),
                       "autocast": figures(name, torch.float32, autocast=True)}
    (HERE / "cast.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

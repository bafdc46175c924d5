"""What PyTorch says of small models that were built in bf16 or fp16, or run under autocast (cast.json), and the files
that export them in fp32 (tests/zoo/foreign/cast_*). README.md of truth/ has the fields.

    venv/bin/python truth/cast/make.py [FOLDER]
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent / "models")]
import fake_cuda  # noqa: E402

fake_cuda.load()

import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from fake_models import Mover  # noqa: E402
import measure  # noqa: E402
import models  # noqa: E402
import pt2_file  # noqa: E402
import pt_file  # noqa: E402


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
            "saved_bytes": saved["saved_bytes"]}


def write(name, folder):
    module, inputs = models.build()[name]
    pt2_file.write(pt2_file.export(module, inputs, "train"), folder / f"cast_{name}.pt2", keep_weights=False)
    pt_file.write(pt_file.trace(module, inputs, "train"), folder / f"cast_{name}.pt")


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

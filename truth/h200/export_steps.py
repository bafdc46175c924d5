#!/usr/bin/env python3
"""Exports the models of record_kernels.py's whole steps, each with its loss: programs.zip beside their record.

usage: export_steps.py [kernel_record | kernel_record_2]

It needs no GPU, and the versions of PyTorch, torchvision and transformers that recorded. The programs have no weights."""
import pathlib
import sys
import zipfile

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from kernels import models, storage  # noqa: E402
from memory.exports import archive_without_weights, cast_on_fake  # noqa: E402
from memory.networks import leave_matrices_unfilled  # noqa: E402


def masks_as_outside_of_an_export():
    """transformers makes masks explicit while it is traced; the recorded steps, which have no padding, had none."""
    import transformers.masking_utils
    transformers.masking_utils.is_tracing = lambda *tensors: False


class Step(torch.nn.Module):
    def __init__(self, network, names, loss):
        super().__init__()
        self.network, self.names, self.loss = network, names, loss

    def forward(self, *tensors):
        named = dict(zip(self.names, tensors))
        output = self.network(*tensors) if "" in named else self.network(**named)
        return self.loss(output)


def program(name):
    recipe = models.MODELS[name]
    leave_matrices_unfilled()
    masks_as_outside_of_an_export()
    with FakeTensorMode():
        network, inputs, loss = recipe.build(False, "cpu")
        dtype = getattr(torch, recipe.dtype)
        layout = torch.channels_last if recipe.channels_last else torch.preserve_format
        cast_on_fake(network, dtype, layout)
        tensors = [tensor.to(dtype if tensor.is_floating_point() else tensor.dtype).to(
            memory_format=layout if tensor.dim() == 4 else torch.preserve_format) for tensor in inputs.values()]
        step = Step(network.train(), list(inputs), loss)
        return torch.export.export(step, tuple(tensors), strict=False)


def main():
    folder = HERE / (sys.argv[1] if len(sys.argv) > 1 else "kernel_record")
    recorded = [model["model"] for model in storage.read_document(folder / "steps.json.gz")["models"]]
    with zipfile.ZipFile(folder / "programs.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in recorded:
            data = archive_without_weights(program(name), name)
            archive.writestr(zipfile.ZipInfo(f"{name}.pt2", date_time=(1980, 1, 1, 0, 0, 0)), data)
            print(name, len(data), flush=True)


if __name__ == "__main__":
    main()

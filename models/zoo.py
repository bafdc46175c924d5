"""The example models: what models/make.py exports and tests/truth/make_truth.py measures.

Every builder returns (module, positional tensor inputs); every module returns one tensor.
"""
import dataclasses
from typing import Callable

import torch




@dataclasses.dataclass(frozen=True)
class Model:
    """One example: how to build it, and how it is exported and measured."""

    build: Callable[[], tuple[torch.nn.Module, tuple[torch.Tensor, ...]]]
    dynamic: tuple | None = None  # torch.export dynamic_shapes, one entry per input
    modes: tuple[str, ...] = ("train", "eval")
    dtypes: tuple[str, ...] = ("fp32", "bf16")  # the first is the dtype of the file
    weightless: bool = False  # built on fake tensors: too big to allocate
    tiny: bool = False  # a unit-test model: models/tiny, the file keeps its weights
    torchscript: bool = False  # also written by the TorchScript-based ONNX exporter


def import_torchvision_models():
    """torchvision.models, also where torchvision's compiled operators do not load."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    try:
        for name in ("nms", "qnms"):  # torchvision gives them shapes when it is imported
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    except RuntimeError:
        pass  # the compiled operators are there
    import torchvision.models

    return torchvision.models, library


def vit_b_16():
    models, _ = import_torchvision_models()
    return models.vit_b_16(), (torch.zeros(8, 3, 224, 224),)


def resnet50():
    models, _ = import_torchvision_models()
    return models.resnet50(), (torch.zeros(8, 3, 224, 224),)


BATCH = torch.export.Dim("batch", min=1, max=4096)

MODELS = {
    "vit_b_16": Model(vit_b_16, dynamic=({0: BATCH},)),
    "resnet50": Model(resnet50, torchscript=True),
}


def build(name, seed=0):
    torch.manual_seed(seed)
    module, inputs = MODELS[name].build()
    return module, inputs

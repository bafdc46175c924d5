"""The example models: what models/make.py exports and truth/make_truth.py measures.

Every builder returns (module, positional tensor inputs); every module returns one tensor.
"""
import dataclasses
from typing import Callable

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import tiny_models


@dataclasses.dataclass(frozen=True)
class Model:
    """One example: how to build it, and how it is exported and measured."""

    build: Callable[[], tuple[torch.nn.Module, tuple[torch.Tensor, ...]]]
    dynamic: tuple | None = None  # torch.export dynamic_shapes, one entry per input
    modes: tuple[str, ...] = ("train", "eval")
    dtypes: tuple[str, ...] = ("fp32", "bf16")  # the first is the dtype of the file
    tiny: bool = False  # a unit-test model: models/tiny, the file keeps its weights
    onnx_opset: int | None = None  # None: what the exporter takes by itself
    # "exporter's" folds batch norm and transposed weights; "small": only shape arithmetic; "none"
    onnx_optimization: str = "exporter's"
    torchscript: bool = False  # also written by the TorchScript-based ONNX exporter
    torchscript_file: str | None = None  # also written as .pt: "traced" or "scripted"
    script_only: bool = False  # written as .pt alone


def define_torchvision_operators():
    """Lets torchvision, and transformers which uses it, be imported without its compiled operators.

    It registers shapes for these two when it is imported, and no model here calls them.
    """
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library


TORCHVISION_OPERATORS = define_torchvision_operators()  # they live as long as this


def torchvision_models():
    import torchvision.models

    return torchvision.models


def vit_b_16():
    return torchvision_models().vit_b_16(), (torch.zeros(8, 3, 224, 224),)


def resnet50():
    return torchvision_models().resnet50(), (torch.zeros(8, 3, 224, 224),)


def language(name):
    def build():
        import language_models

        return getattr(language_models, name)()

    return build


def decoder_7b(name):
    return Model(language(name), dtypes=("bf16",), onnx_opset=23, onnx_optimization="small")


BATCH = torch.export.Dim("batch", min=1, max=4096)
LENGTH = torch.export.Dim("length", min=2, max=1024)

MODELS = {
    "vit_b_16": Model(
        vit_b_16, dynamic=({0: BATCH},), onnx_opset=23, torchscript_file="traced"
    ),
    "resnet50": Model(
        resnet50, onnx_optimization="none", torchscript=True, torchscript_file="traced"
    ),
    "gpt2": Model(language("gpt2"), onnx_optimization="small", torchscript_file="traced"),
    "bert_base": Model(language("bert_base"), torchscript=True),
    "llama_7b": decoder_7b("llama_7b"),
    "llama_7b_gqa": decoder_7b("llama_7b_gqa"),
    "mlp": Model(
        tiny_models.mlp, dynamic=({0: BATCH},), tiny=True, torchscript_file="scripted"
    ),
    "convnet": Model(
        tiny_models.convnet,
        tiny=True,
        onnx_optimization="none",
        torchscript=True,
        torchscript_file="traced",
    ),
    "tied_lm": Model(tiny_models.tied_lm, tiny=True, torchscript_file="traced"),
    "rearranged": Model(tiny_models.rearranged, tiny=True, torchscript_file="traced"),
    "dynamic_shapes": Model(
        tiny_models.dynamic_shapes,
        dynamic=({0: BATCH, 1: LENGTH},),
        tiny=True,
        torchscript_file="traced",
    ),
    "aliases": Model(tiny_models.aliases, tiny=True, torchscript_file="traced"),
    "reused_layer": Model(tiny_models.reused_layer, tiny=True, torchscript_file="traced"),
    "reused_buffer": Model(tiny_models.reused_buffer, tiny=True, torchscript_file="traced"),
    "kept_base": Model(tiny_models.kept_base, tiny=True, torchscript_file="traced"),
    "mixed_dtypes": Model(
        tiny_models.mixed_dtypes, dtypes=("fp32",), tiny=True, torchscript_file="traced"
    ),
    "control_flow": Model(
        tiny_models.control_flow, tiny=True, torchscript_file="scripted", script_only=True
    ),
}


def keep_as_it_is(tensor, *args, **kwargs):
    return tensor


def build_without_memory(name):
    """(module, inputs) on fake CPU tensors."""
    original = torch.nn.init.trunc_normal_  # rejects samples, so it would look at data
    torch.nn.init.trunc_normal_ = keep_as_it_is
    try:
        with FakeTensorMode():
            return MODELS[name].build()
    finally:
        torch.nn.init.trunc_normal_ = original


def build_with_weights(name):
    torch.manual_seed(0)
    return MODELS[name].build()


def build_small(name):
    """(module, inputs) on real tensors; zeros as parameters, which compress well."""
    module, inputs = MODELS[name].build()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    return module, inputs

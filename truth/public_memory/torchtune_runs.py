"""torchtune's ablation of Llama 3.2 3B on one A100 (rows/torchtune.csv), peak of active bytes.

The model and the losses are torchtune's own, the loop is that of recipes/full_finetune_single_device.py. What was compiled runs
eagerly here. Packed rows attend within documents; the mask's kernel (FlexAttention) is PyTorch's causal flash attention here,
which holds the same tensors.
"""
import importlib.abc
import importlib.machinery
import pathlib
import sys
import types
from typing import Any

import torch
from torch import nn

from fms import CannotRebuild
from loop import Simulated, Watch, materialize, words_of

STEPS = 3
PACKED = 4096


def _anything(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (), {})


class _Anything(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """What torchtune imports for its data and its command line, and of torchao's older versions: none of it is called here."""

    packages = {"torchao", "omegaconf", "datasets", "tiktoken", "sentencepiece", "blobfile", "kagglehub", "tokenizers"}

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.partition(".")[0] not in self.packages:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__version__ = "0.7.0"  # type: ignore[attr-defined]
        module.__getattr__ = _anything  # type: ignore[method-assign]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__ == "torchao.dtypes.nf4tensor":
            module.implements = lambda ops: lambda function: function  # type: ignore[attr-defined]


def use(libraries: str) -> None:
    folder = pathlib.Path(libraries) / "torchtune"
    if not folder.is_dir():
        raise CannotRebuild(f"{folder} is not there: libraries.sh makes it")
    sys.meta_path.insert(0, _Anything())
    sys.path.insert(0, str(folder))


def model_of(row: dict[str, str]) -> Any:
    from torchtune.models.llama3_2 import llama3_2, lora_llama3_2

    words = words_of(row["model_config"])
    sizes = {"vocab_size": words["vocab"], "num_layers": words["layers"], "num_heads": words["heads"],
             "num_kv_heads": words["kv heads"], "embed_dim": words["hidden"], "max_seq_len": 131072,
             "intermediate_dim": words["intermediate"]}
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        if row["method"] == "full":
            return llama3_2(**sizes)
        if row["method"] != "LoRA":
            raise CannotRebuild("NF4 weights of torchao")
        model = lora_llama3_2(lora_attn_modules=["q_proj", "v_proj", "output_proj"], apply_lora_to_mlp=True, lora_rank=64,
                              lora_alpha=128, **sizes)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("lora_" in name)
    return model


def checkpointed(model: Any) -> None:
    """torchtune wraps blocks with PyTorch's checkpoint_wrapper."""
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

    for i, layer in enumerate(model.layers):
        model.layers[i] = checkpoint_wrapper(layer)


def predict(row: dict[str, str], libraries: str) -> dict[str, Any]:
    if row["num_gpus"] != "1":
        raise CannotRebuild("several GPUs")
    if "packed" not in row["seq_distribution"] or "unpacked" in row["seq_distribution"]:
        raise CannotRebuild("the length of the longest batch is not published")
    if "8 bit" in row["optimizer"] or "offload" in row["method_config"]:
        raise CannotRebuild("8-bit states or offloaded activations")
    use(libraries)
    watch, batch = Watch(), int(row["batch_per_gpu"])
    is_chunked = row["id"] not in ("torchtune-3b-packed", "torchtune-3b-compile")
    with Simulated("a100-80g", row["id"], "2.5"):
        with watch.on("model"):
            model = materialize(model_of(row))
            with torch.device("cuda"):
                for module in model.modules():
                    if hasattr(module, "rope_init"):
                        module.rope_init()
            if row["grad_checkpointing"].startswith("yes"):
                checkpointed(model)
            trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
            in_backward = "in backward" in row["optimizer"]
            optimizers = [torch.optim.AdamW([p]) for p in trained] if in_backward else [torch.optim.AdamW(trained)]
            if in_backward:
                by_parameter = dict(zip(trained, optimizers, strict=True))

                def step(parameter: torch.Tensor) -> None:
                    by_parameter[parameter].step()
                    by_parameter[parameter].zero_grad()

                for parameter in trained:
                    parameter.register_post_accumulate_grad_hook(step)
            if is_chunked:
                from torchtune.modules.loss import CEWithChunkedOutputLoss

                loss_of: Any = CEWithChunkedOutputLoss()
                model.set_num_output_chunks(loss_of.num_output_chunks)
            else:
                loss_of = nn.CrossEntropyLoss()
        ids = torch.zeros(batch, PACKED, dtype=torch.int64)
        positions = torch.arange(PACKED).repeat(batch, 1)
        with watch.on("steps"):
            for _ in range(STEPS):
                tokens, labels, places = ids.to("cuda"), ids.to("cuda"), positions.to("cuda")
                logits = model(tokens, input_pos=places)
                labels = torch.hstack((labels[..., 1:], torch.full((batch, 1), -100, device="cuda")))
                if not is_chunked:
                    labels, logits = labels.reshape(-1), logits.reshape(-1, logits.size(-1))
                loss = loss_of(logits, labels)
                del logits
                loss.backward()
                if not in_backward:
                    optimizers[0].step()
                    optimizers[0].zero_grad()
        peak, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    return {"peak_allocated_bytes": peak, "max_reserved_bytes": reserved, "fits": "yes", "seconds": dict(watch.seconds)}

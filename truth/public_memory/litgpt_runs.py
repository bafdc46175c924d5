"""LitGPT's table of fine-tuning (rows/litgpt.csv): LoRA and QLoRA on one A10G, peak of allocated memory and verdicts.

The model is LitGPT's own (its source, in the folder of libraries.sh); the loop is that of litgpt/finetune/lora.py and full.py.
Fabric gives a model's outputs in float32 (lightning/fabric/plugins/precision/half.py: convert_output); 4-bit layers are
stand-ins (kernels.py). The longest text has 512 tokens or is shorter than that: LENGTH is what the longest
batch of each row is taken to have.
"""
import importlib
import pathlib
import re
import sys
import types
from typing import Any

import torch
from torch import nn

from fms import CannotRebuild
from loop import Simulated, Watch, materialize

LENGTH = 512
STEPS = 3
DEVICE = "a10g"


def package(libraries: str) -> tuple[Any, Any, Any]:
    """litgpt's config, model and lora, without what the package imports for its commands."""
    folder = pathlib.Path(libraries) / "litgpt" / "litgpt"
    if not folder.is_dir():
        raise CannotRebuild(f"{folder} is not there: libraries.sh makes it")

    def stub(name: str, **members: Any) -> types.ModuleType:
        module = types.ModuleType(name)
        module.__dict__.update(members)
        sys.modules[name] = module
        return module

    stub("litgpt").__path__ = [str(folder)]
    stub("litgpt.scripts").__path__ = []
    stub("litgpt.scripts.convert_hf_checkpoint", qkv_reassemble=None)
    stub("litgpt.utils", map_old_state_dict_weights=None)
    found = [importlib.import_module(f"litgpt.{name}") for name in ("config", "model", "lora")]
    sys.modules["litgpt"].Config, sys.modules["litgpt"].GPT = found[0].Config, found[1].GPT  # type: ignore[attr-defined]
    return found[0], found[1], found[2]


def name_of(model: str, config_module: Any) -> str:
    """Rows have names in small letters."""
    return next((name for name in config_module.name_to_config if name.lower() == model.lower()), model)


def model_of(row: dict[str, str], libraries: str) -> Any:
    config_module, model_module, lora = package(libraries)
    name = name_of(row["model"], config_module)
    torch.set_default_dtype(torch.bfloat16)  # Precision "bf16-true".
    if "LoRA" not in row["method"]:
        with torch.device("meta"):
            return model_module.GPT(config_module.Config.from_name(name))
    settings = row["method_config"]
    on = re.search(r"on ([\w, ]+)", settings)[1].split(", ")  # type: ignore[index]
    config = lora.Config.from_name(
        name, lora_r=int(re.search(r"r (\d+)", settings)[1]),  # type: ignore[index]
        lora_alpha=int(re.search(r"alpha (\d+)", settings)[1]),  # type: ignore[index]
        lora_dropout=float(re.search(r"dropout ([\d.]+)", settings)[1]),  # type: ignore[index]
        **{f"lora_{part}": part in on for part in ("query", "key", "value", "projection", "mlp", "head")})
    with torch.device("meta"):
        model = lora.GPT(config)
    lora.mark_only_lora_as_trainable(model)
    return quantized(model) if "nf4" in row["method"] else model


def quantized(model: Any) -> Any:
    """Lightning's BitsandbytesPrecision("nf4"): every linear layer, the head too, without double quantization. It packs
    weights from float16 (fabric/plugins/precision/bitsandbytes.py: _quantize_weight)."""
    from kernels import FourBitLinear

    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear):
            owner = model.get_submodule(name.rpartition(".")[0])
            setattr(owner, name.rpartition(".")[2], FourBitLinear(
                module, "nf4", torch.bfloat16, nested=False, keeps_input=True, packed_from=torch.float16))
    return model


def loss_of(logits: Any, targets: torch.Tensor, size: int = 128) -> torch.Tensor:
    """LitGPT's chunked_cross_entropy: logits come in chunks when the head made them so."""
    if isinstance(logits, torch.Tensor):
        logits = logits.reshape(-1, logits.size(-1)).split(size)
        parts = targets.reshape(-1).split(size)
    else:
        parts = [part.reshape(-1) for part in targets.split(logits[0].size(1), dim=1)]
        logits = [chunk.reshape(-1, chunk.size(-1)) for chunk in logits]
    losses = [nn.functional.cross_entropy(chunk, part, reduction="none") for chunk, part in zip(logits, parts, strict=True)]
    count = (targets != -100).sum()
    return torch.cat(losses).sum() / count.maximum(torch.ones_like(count))


def validate(model: Any, ids: torch.Tensor) -> None:
    model.eval()
    with torch.no_grad():
        logits = model(ids).float()
        logits = logits[..., :-1, :].reshape(-1, logits.size(-1))
        nn.functional.cross_entropy(logits, ids[..., 1:].reshape(-1))
    model.train()


def predict(row: dict[str, str], libraries: str, length: int = LENGTH) -> dict[str, Any]:
    if row["parallel"] != "none":
        raise CannotRebuild("several GPUs")
    if row["contradiction"] == "yes":
        raise CannotRebuild("the measured figure contradicts its own configuration")
    watch, batch = Watch(), int(row["batch_per_gpu"])
    accumulate = max(1, int(re.search(r"global batch (\d+)", row["grad_accum"])[1]) // batch)  # type: ignore[index]
    is_lora = "LoRA" in row["method"]
    with Simulated(DEVICE, row["id"], "2.4"):
        with watch.on("model"):
            model = materialize(model_of(row, libraries))
            model.max_seq_length = length
            trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
            # bitsandbytes' paged optimizer keeps its states in managed memory, which the allocator does not count.
            kind: Any = torch.optim.SGD if "nf4" in row["method"] else torch.optim.AdamW
            optimizer = kind(trained, lr=1e-4)
        ids = torch.zeros(batch, length, dtype=torch.int64)
        validate(model, ids.to("cuda"))
        with watch.on("steps"):
            for _ in range(STEPS):
                for _ in range(min(accumulate, 2)):
                    inputs, targets = ids.to("cuda"), ids.to("cuda")
                    if is_lora:
                        logits = [chunk.float() for chunk in model(inputs, lm_head_chunk_size=128)]
                        logits[-1] = logits[-1][..., :-1, :]
                        loss = loss_of(logits, targets[..., 1:])
                    else:
                        logits = model(inputs).float()
                        loss = loss_of(logits[..., :-1, :], targets[..., 1:])
                    (loss / accumulate).backward()
                optimizer.step()
                optimizer.zero_grad()
        peak, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
        total = torch.cuda.mem_get_info()[1]
    return {"peak_allocated_bytes": peak, "max_reserved_bytes": reserved, "fits": "yes" if reserved <= total else "no",
            "seconds": dict(watch.seconds)}

"""fms-acceleration's benchmarks on one A100 (rows/fms.csv): transformers' Trainer, FlashAttention 2, blocks checkpointed, AdamW.

The loop is Trainer's (its training_step, clipping, the update), with the model, PEFT and accelerate of the versions that the
row names (libraries.sh); torch is the one that runs here, and the allocator that of the row. FlashAttention, 4-bit weights
and the Triton kernels are stand-ins (kernels.py). Peak is max_memory_allocated.

Orca's texts are padded to the longest of a batch, whose length is not published: it is taken from one row for each way of
batching (CALIBRATED_ON), and the other rows are judged.
"""
import json
import pathlib
import re
import sys
from typing import Any

import torch
from torch import nn

from loop import Simulated, Watch, materialize, words_of

ORCA = pathlib.Path(__file__).parent / "orca_lengths.json"  # calibrate.py writes it.
CALIBRATED_ON = {"padded 4": "fms-a_pf-orca-010", "padded 8": "fms-a_pf-orca-012", "padding free 4": "fms-a_pf-orca-014",
                 "padding free 8": "fms-a_pf-orca-016"}
STEPS = 3


class CannotRebuild(Exception):
    """Why a row is left out."""


def use_libraries(root: str, row: dict[str, str]) -> None:
    version = re.search(r"transformers ([\d.]+)", row["libs"])
    folder = pathlib.Path(root) / f"transformers-{version[1] if version else ''}"
    if not folder.is_dir():
        raise CannotRebuild(f"{folder} is not there: libraries.sh makes it")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def import_libraries(row: dict[str, str], root: str) -> None:
    """What every row of these packages needs."""
    import importlib

    import kernels

    use_libraries(root, row)
    kernels.install_flash_attention()
    for name in ("accelerate", "peft", "transformers.models.mistral.modeling_mistral", "transformers.models.llama.modeling_llama",
                 "transformers.models.auto.modeling_auto"):
        importlib.import_module(name)


def way_of_batching(row: dict[str, str]) -> str | None:
    if "not packed" not in row["seq_distribution"]:
        return None
    return f"{'padding free' if 'padding free' in row['method_config'] else 'padded'} {row['batch_per_gpu']}"


def tokens_of(row: dict[str, str], known: int | None = None) -> tuple[int, int]:
    """Rows and tokens of the largest batch."""
    way, batch = way_of_batching(row), int(row["batch_per_gpu"])
    if way is None:
        found = re.match(r"(\d+) a sample", row["seq_len"])
        length = 4096 if "bigcode" not in row["model"] else 2048
        if found:
            length = min((1024, 2048, 4096, 8192), key=lambda known: abs(known - int(found[1]) * int(row["num_gpus"])))
        return batch, length
    length = known or json.loads(ORCA.read_text())[way]
    return (1, length) if way.startswith("padding free") else (batch, length)


def model_of(row: dict[str, str], dtype: torch.dtype) -> Any:
    import transformers

    config_words = row["model_config"]
    if config_words.startswith("as Mistral"):
        config_words = "hidden 4096; layers 32; heads 32; kv heads 8; intermediate 14336; vocab 32000"
    elif config_words.startswith("as Llama-2-70b"):
        config_words = "hidden 8192; layers 80; heads 64; kv heads 8; intermediate 28672; vocab 32000"
    words = words_of(config_words.removeprefix("GPTBigCode:"))
    flash: dict[str, Any] = {"attn_implementation": "flash_attention_2", "torch_dtype": dtype}
    if "GPTBigCode" in config_words:
        config: Any = transformers.GPTBigCodeConfig(
            n_embd=words["n_embd"], n_layer=words["layers"], n_head=words["heads"], n_positions=words["positions"],
            vocab_size=words["vocab"], multi_query=True, attn_pdrop=0.1, resid_pdrop=0.1, embd_pdrop=0.1)
    else:
        kind = "Mistral" if "mistral" in row["model"].lower() else "Llama"
        config = getattr(transformers, f"{kind}Config")(
            hidden_size=words["hidden"], num_hidden_layers=words["layers"], num_attention_heads=words["heads"],
            num_key_value_heads=words["kv heads"], intermediate_size=words["intermediate"], vocab_size=words["vocab"],
            max_position_embeddings=32768 if kind == "Mistral" else 4096)
        if kind == "Mistral":
            config.sliding_window = 4096
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(config, **flash)


def quantized(model: Any, kind: str, dtype: torch.dtype) -> Any:
    """Linear layers with 4-bit weights in place of all but the head, as bitsandbytes' and GPTQ's loaders leave them."""
    from kernels import FourBitLinear

    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and "lm_head" not in name:
            owner = model.get_submodule(name.rpartition(".")[0])
            setattr(owner, name.rpartition(".")[2], FourBitLinear(module, kind, dtype))
    return model


class Adapted(nn.Module):
    """A 4-bit layer with LoRA, as peft's lora.Linear4bit and the plugin's GPTQ layer compute it."""

    def __init__(self, base: nn.Module, rank: int, alpha: float, dropout: float) -> None:
        super().__init__()
        self.base_layer, self.scaling, self.dropout = base, alpha / rank, nn.Dropout(dropout)
        self.lora_A = nn.Linear(base.in_features, rank, bias=False, device="meta", dtype=torch.float32)  # type: ignore[arg-type]
        self.lora_B = nn.Linear(rank, base.out_features, bias=False, device="meta", dtype=torch.float32)  # type: ignore[arg-type]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result = self.base_layer(x).clone()
        needs_conversion = not torch.is_autocast_enabled("cuda")
        kind = result.dtype
        if needs_conversion:
            x = x.to(self.lora_A.weight.dtype)
        output = self.lora_B(self.lora_A(self.dropout(x))) * self.scaling
        return result + (output.to(kind) if needs_conversion else output)


def with_lora(model: Any, row: dict[str, str]) -> Any:
    settings = row["method_config"]
    rank, alpha = (int(float(re.search(rf"\b{name} ([\d.]+)", settings)[1])) for name in ("r", "alpha"))  # type: ignore[index]
    dropout = float(re.search(r"dropout ([\d.]+)", settings)[1])  # type: ignore[index]
    targets = re.search(r"targets ([\w ]+)", settings)[1].split()  # type: ignore[index]
    model.requires_grad_(False)
    if "4 bit" in row["model_config"] or "nf4" in row["method"] or "GPTQ" in row["method"]:
        for name, module in list(model.named_modules()):
            if name.rpartition(".")[2] in targets:
                setattr(model.get_submodule(name.rpartition(".")[0]), name.rpartition(".")[2], Adapted(module, rank, alpha, dropout))
        return materialize(model)
    import peft

    config = peft.LoraConfig(r=rank, lora_alpha=alpha, lora_dropout=dropout, target_modules=targets, task_type="CAUSAL_LM")
    return peft.get_peft_model(materialize(model), config)


def prepared(row: dict[str, str]) -> Any:
    dtype = torch.float16 if row["dtype"].startswith("float16") else torch.bfloat16
    model = model_of(row, dtype)
    if row["method"] == "full":
        return materialize(model)
    if "LoRA" not in row["method"]:
        raise CannotRebuild(f"method {row['method']}")
    if row["method"] != "LoRA":
        model = quantized(model, "nf4" if "nf4" in row["method"] else "gptq", dtype)
    if "PEFT preparation by PEFT" in row["method_config"]:
        norms_in_float32(model)
    return with_lora(model, row)


def norms_in_float32(model: Any) -> None:
    """PEFT's prepare_model_for_kbit_training makes all that is not quantized float32; trl's peft_module_casting_to_bf16, which
    SFTTrainer calls after it, makes embeddings and head bfloat16 again. The norms stay."""
    for name, module in model.named_modules():
        if isinstance(module, nn.LayerNorm) or "norm" in name:
            module.to(torch.float32)


def use_kernels(model: Any, row: dict[str, str]) -> None:
    """The row's Triton kernels."""
    import fused

    settings = row["method_config"]
    if "Triton RMSNorm" in settings:
        fused.use_triton_norms(model)
        fused.use_triton_rotary(model)
    if "fused LoRA" in settings:
        fused.use_fused_lora(model, Adapted)
    if "Triton cross entropy" in settings:
        fused.use_triton_loss(model)
    if "Liger" in settings:
        fused.use_liger_loss(model)


def one_step(model: Any, optimizer: Any, accelerator: Any, batch: tuple[int, int], accumulate: int) -> None:
    for _ in range(accumulate):
        model.train()
        ids = torch.zeros(batch, dtype=torch.int64)
        inputs = {"input_ids": ids.to("cuda"), "attention_mask": torch.ones_like(ids).to("cuda"), "labels": ids.clone().to("cuda")}
        outputs = model(**inputs)
        loss = outputs["loss"] / accumulate
        del inputs, outputs
        accelerator.backward(loss)
    accelerator.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    model.zero_grad()


def predict(row: dict[str, str], libraries: str, tokens: int | None = None) -> dict[str, Any]:
    if row["num_gpus"] != "1":
        raise CannotRebuild("several GPUs")
    use_libraries(libraries, row)
    watch = Watch()
    batch = tokens_of(row, tokens)
    with Simulated("a100-80g", row["id"], "2.4"):
        import kernels

        kernels.install_flash_attention()
        from accelerate import Accelerator

        with watch.on("model"):
            model = prepared(row)
            model.enable_input_require_grads() if row["method"] != "full" else None
            model.gradient_checkpointing_enable()
            use_kernels(model, row)
            precision = "bf16" if row["autocast"].startswith("bfloat16") else "fp16" if row["autocast"].startswith("float16") else "no"
            accelerator = Accelerator(mixed_precision=precision)
            trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
            model, optimizer = accelerator.prepare(model, torch.optim.AdamW(trained, weight_decay=0.01, eps=1e-4))
        torch.cuda.reset_peak_memory_stats()
        with watch.on("steps"):
            for _ in range(STEPS):
                one_step(model, optimizer, accelerator, batch, int(row["grad_accum"] or 1))
        peak, allocated = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
        reserved = torch.cuda.max_memory_reserved()
    return {"peak_allocated_bytes": peak, "allocated_bytes": allocated, "max_reserved_bytes": reserved, "tokens": batch[1],
            "fits": "yes" if reserved <= run_memory("a100-80g") else "no", "seconds": dict(watch.seconds)}


def run_memory(device: str) -> int:
    text = (pathlib.Path(__file__).parents[2] / "devices" / f"{device}.json").read_text()
    return int(json.loads(text)["memory_bytes"])

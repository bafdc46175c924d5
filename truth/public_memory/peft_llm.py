"""PEFT's method comparison on MetaMathQA: Llama-3.2-3B with an adapter, batch 4, 5,000 steps (rows/peft.csv, `peft-llm-…`).

The loop is that of method_comparison/MetaMathQA/run.py of huggingface/peft at the commit that the rows name: 80 rows of data
make a bucket, sorted from long to short and cut into 20 batches; the cache is emptied after every tenth step; memory is read
after each step, with `outputs` still alive. Weights, adapters and optimizers are made by transformers and peft.

The lengths of the data are not published. They are one distribution, the same for every row, so they are taken from one of them
(CALIBRATED_ON): the spread of lengths within a bucket from its mean, the longest batch of the 99th percentile's and of the
largest window from these two figures.
"""
import dataclasses
import json
import pathlib
import statistics
from typing import Any

import torch

from loop import Simulated, Watch, first_segment, materialize, words_of

CALIBRATED_ON = "peft-llm-lora--rank32"
LENGTHS = pathlib.Path(__file__).parent / "peft_lengths.json"  # calibrate.py writes it.
BATCHES, BATCH, WINDOW = 20, 4, 10
STEPS = 2  # Of a window that are run.
MEAN_TOKENS = 209.9  # Of a row, with its end token: 4,198,051 tokens in 20,000 rows.


@dataclasses.dataclass(frozen=True)
class Lengths:
    """Tokens of batches. Rows of a bucket are log-normal with this deviation; `p99` and `largest` are the longest batches."""

    deviation: float
    p99: int
    largest: int

    def bucket(self, longest: float | None = None) -> list[int]:
        """The longest row of each batch of one bucket, from long to short; an outlier may be the first."""
        normal, rows = statistics.NormalDist(), BATCHES * BATCH
        # Blom's approximation of the expected order statistics.
        places = [normal.inv_cdf(1 - (BATCH * i + 1 - 0.375) / (rows + 0.25)) for i in range(BATCHES)]
        middle = MEAN_TOKENS * 2.718281828 ** (-self.deviation**2 / 2)
        lengths = [middle * 2.718281828 ** (self.deviation * place) for place in places]
        return [round(longest or lengths[0]), *(round(length) for length in lengths[1:])]


def lengths_of_data() -> Lengths:
    return Lengths(**json.loads(LENGTHS.read_text()))


def base_model(row: dict[str, str]) -> Any:
    from transformers import AutoModelForCausalLM, LlamaConfig

    words = words_of(row["model_config"].removeprefix("decoder:"))
    config = LlamaConfig(
        hidden_size=words["hidden"], num_hidden_layers=words["layers"], num_attention_heads=words["heads"],
        num_key_value_heads=words["kv heads"], head_dim=words["head dim"], intermediate_size=words["intermediate"],
        vocab_size=words["vocab"], tie_word_embeddings="tied embeddings" in words, max_position_embeddings=131072,
        rope_parameters={"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "high_freq_factor": 4.0,
                         "low_freq_factor": 1.0, "original_max_position_embeddings": 8192})
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    return materialize(model, reserve_first=True).eval()  # As from_pretrained leaves it.


def adapted(model: Any, row: dict[str, str], task: str | None = "CAUSAL_LM") -> Any:
    """The model with the row's adapter; full fine-tuning has none."""
    if row["method"] == "full":
        return model
    import peft

    from made_of_values import use_shapes_only

    use_shapes_only()
    settings = json.loads(row["method_config"] or "{}")
    if row["method"] == "PREFIX_TUNING":  # peft writes what it found in the model over the settings of the run.
        for name in ("num_attention_heads", "token_dim", "num_layers"):
            settings.pop(name, None)
    known = {field.name for field in dataclasses.fields(peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING[row["method"]])}
    settings = {name: value for name, value in settings.items() if name in known}
    config = peft.get_peft_config({"peft_type": row["method"], "task_type": task, **settings})
    return peft.get_peft_model(model, config, autocast_adapter_dtype="adapter weights float32" in row["dtype"])


def optimizer_of(model: Any, row: dict[str, str]) -> torch.optim.Optimizer:
    settings, kind = json.loads(row["optimizer_config"] or "{}"), row["optimizer"]
    if kind.startswith("lora-fa"):
        from peft.optimizers import create_lorafa_optimizer

        return create_lorafa_optimizer(model, **settings)
    if kind.startswith("lora+"):
        from peft.optimizers import create_loraplus_optimizer

        return create_loraplus_optimizer(model, optimizer_cls=torch.optim.AdamW, **settings)
    if kind.startswith("riemannian"):
        from peft.optimizers import create_riemannian_optimizer

        return create_riemannian_optimizer(model, optimizer_cls=torch.optim.AdamW, **settings)
    return getattr(torch.optim, kind.split()[0])(model.parameters(), **settings)


class Training:
    """The loop of the run, a batch at a time."""

    def __init__(self, model: Any, row: dict[str, str]) -> None:
        self.model, self.optimizer = model.train(), optimizer_of(model, row)
        self.clip = float(row["grad_clip"] or 0)
        self.updates_itself = row["method"] in ("ADALORA", "ADAMSS")
        self.steps = 0

    def step(self, length: int) -> None:
        ids = torch.zeros(BATCH, length, dtype=torch.int64)
        mask = torch.ones_like(ids)
        for i in range(1, BATCH):  # The shorter rows of the batch.
            mask[i, length - max(1, i * length // 40):] = 0
        batch = {"input_ids": ids.to("cuda"), "attention_mask": mask.to("cuda")}
        labels = batch["input_ids"].clone()
        for i in range(BATCH):
            labels[i, length - i * length // 40 + 1:] = -100
        batch["labels"] = labels
        tokens = int(mask.sum())
        self.optimizer.zero_grad()
        self.outputs = self.model(**batch, num_items_in_batch=tokens)
        self.batch, self.labels = batch, labels  # Names of the loop: they live until the next step's.
        self.loss = self.outputs.loss
        self.loss.backward()
        if self.clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.steps += 1
        if self.updates_itself:
            self.model.base_model.update_and_allocate(self.steps)


def windows(training: Training, lengths: list[int], start: int) -> int:
    """Reserved bytes after the first steps of a window, behind an emptied cache; later ones are shorter."""
    torch.cuda.empty_cache()
    for length in lengths:
        training.step(length)
    return int(torch.cuda.memory_reserved() - start)


def predict(row: dict[str, str], lengths: Lengths | None = None) -> dict[str, Any]:
    lengths = lengths or lengths_of_data()
    watch = Watch()
    with Simulated("l40s", row["id"], '.'.join(row['torch'].split('.')[:2])):
        start = first_segment()
        with watch.on("model"):
            model = adapted(base_model(row), row)
        with watch.on("steps"):
            training, bucket = Training(model, row), lengths.bucket()
            training.step(bucket[-1])
            halves = [windows(training, bucket[:STEPS], start), windows(training, bucket[WINDOW:WINDOW + STEPS], start)]
            allocated = torch.cuda.memory_allocated() - start
            p99 = windows(training, lengths.bucket(lengths.p99)[:STEPS], start)
            training.step(bucket[-1])
            largest = windows(training, lengths.bucket(lengths.largest)[:STEPS], start)
    return {"reserved_avg_bytes": sum(halves) / 2, "reserved_p99_bytes": p99, "max_reserved_bytes": largest,
            "allocated_after_step_bytes": allocated, "steps": training.steps, "seconds": dict(watch.seconds)}

"""PEFT's method comparison on images: the transformer of FLUX.2-klein with an adapter (rows/peft.csv, `peft-img-…`).

The loop is that of method_comparison/image-gen/run.py of huggingface/peft: blocks checkpointed, batch 2, constant shapes. What
lies on the GPU beside the transformer is there, too: the image encoder of the evaluation, prompts and latents. Evaluations
are left out, as the run counts memory without them.
"""
import re
from typing import Any

import torch

from loop import Simulated, Watch, first_segment, materialize
from peft_llm import adapted, optimizer_of

STEPS = 6
IMAGES, TEXT_TOKENS, TEXT_WIDTH = 14, 512, 7680
TIMESTEPS = 1000


def transformer(config: str) -> Any:
    from diffusers import Flux2Transformer2DModel

    def number(pattern: str) -> float:
        return float(re.search(pattern, config)[1])  # type: ignore[index]

    with torch.device("meta"):
        model = Flux2Transformer2DModel(
            in_channels=int(number(r"in channels (\d+)")), num_layers=int(number(r"double blocks (\d+)")),
            num_single_layers=int(number(r"single blocks (\d+)")), attention_head_dim=int(number(r"head dim (\d+)")),
            num_attention_heads=int(number(r"heads (\d+)")), joint_attention_dim=int(number(r"joint attention dim (\d+)")),
            mlp_ratio=number(r"mlp ratio ([\d.]+)"), rope_theta=int(number(r"theta (\d+)")),
            guidance_embeds="no guidance embedding" not in config)
    model = model.to(torch.bfloat16)
    model.enable_gradient_checkpointing()
    return model


def image_encoder() -> Any:
    """DINOv2-base in float32."""
    from transformers import Dinov2Config, Dinov2Model

    with torch.device("meta"):
        return Dinov2Model(Dinov2Config(image_size=518, patch_size=14)).eval()


def step(model: Any, optimizer: torch.optim.Optimizer, cached: dict[str, torch.Tensor], batch: int, clip: float) -> torch.Tensor:
    """As the loop of the run; `_pack_latents` and `_unpack_latents_with_ids` are what its pipeline does."""
    picked = torch.arange(batch).to("cuda")
    latents = cached["latents"].index_select(0, picked)
    prompts, text_ids = cached["prompts"].index_select(0, picked), cached["text_ids"].index_select(0, picked)
    height, width = latents.shape[2:]
    ids = torch.cartesian_prod(torch.arange(1), torch.arange(height), torch.arange(width), torch.arange(1))
    image_ids = ids.unsqueeze(0).expand(batch, -1, -1).to("cuda")
    noise = torch.randn_like(latents)
    timesteps = torch.full((batch,), 500.0).to("cuda")
    sigmas = torch.full((batch, 1, 1, 1), 0.5, dtype=latents.dtype).to("cuda")
    noisy = (1.0 - sigmas) * latents + sigmas * noise
    packed = noisy.reshape(batch, latents.shape[1], height * width).permute(0, 2, 1)
    optimizer.zero_grad(set_to_none=True)
    predicted = model(hidden_states=packed, timestep=timesteps / TIMESTEPS, guidance=None, encoder_hidden_states=prompts,
                      txt_ids=text_ids, img_ids=image_ids, return_dict=False)[0]
    predicted = predicted[:, : packed.size(1)]
    predicted = _unpacked(predicted, image_ids, height, width)
    target = noise - latents
    weighting = torch.ones_like(sigmas)
    loss = torch.mean((weighting.float() * (predicted.float() - target.float()) ** 2).reshape(batch, -1), 1).mean()
    loss.backward()
    if clip:
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.detach()


def _unpacked(values: torch.Tensor, ids: torch.Tensor, height: int, width: int) -> torch.Tensor:
    images = []
    for data, position in zip(values, ids, strict=True):
        places = position[:, 1] * width + position[:, 2]
        image = torch.zeros((height * width, data.shape[1]), device=data.device, dtype=data.dtype)
        image.scatter_(0, places.unsqueeze(1).expand(-1, data.shape[1]), data)
        images.append(image.view(height, width, -1).permute(2, 0, 1))
    return torch.stack(images, dim=0)


def predict(row: dict[str, str]) -> dict[str, Any]:
    watch, batch = Watch(), int(row["batch_per_gpu"])
    reserved, losses = [], []
    with Simulated("l40s", row["id"], '.'.join(row['torch'].split('.')[:2])):
        start = first_segment()
        with watch.on("model"):
            # The adapter is made with the weights on the GPU; they wait on the host until training begins.
            model = adapted(materialize(transformer(row["model_config"])), row, task=None)
            if row["method"] == "full":
                model.requires_grad_(True)
            encoder = materialize(image_encoder())
            optimizer = optimizer_of(model.train(), row)
            cached = {"prompts": torch.empty(IMAGES, TEXT_TOKENS, TEXT_WIDTH, dtype=torch.bfloat16, device="cuda"),
                      "text_ids": torch.zeros(IMAGES, TEXT_TOKENS, 4, dtype=torch.int64).to("cuda"),
                      "latents": torch.empty(IMAGES, 128, 32, 32, dtype=torch.bfloat16, device="cuda")}
        torch.cuda.empty_cache()
        with watch.on("steps"):
            for _ in range(STEPS):
                losses.append(step(model, optimizer, cached, batch, float(row["grad_clip"] or 0)))
                reserved.append(torch.cuda.memory_reserved() - start)
        del encoder
        allocated = torch.cuda.memory_allocated() - start
    return {"reserved_avg_bytes": reserved[-1], "reserved_p99_bytes": reserved[-1], "max_reserved_bytes": max(reserved),
            "allocated_after_step_bytes": allocated, "steps": STEPS, "seconds": dict(watch.seconds)}

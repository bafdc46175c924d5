"""Training steps and inferences of models of Transformers, two layers each, from random weights."""
import functools
import importlib.util

import torch

from tensors import empty, full, long, low

find_spec = importlib.util.find_spec
# Built for another PyTorch, if at all; the models do without.
importlib.util.find_spec = lambda name, *rest: None if name.split(".")[0] in ("torchvision", "timm", "triton", "kernels") else find_spec(name, *rest)
import transformers  # noqa: E402

small = {"num_hidden_layers": 2}
grouped = {"hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 4, **small}
TEXT = {
    "Bert": ("ForMaskedLM", small), "GPT2": ("LMHeadModel", {"n_layer": 2}), "Llama": ("ForCausalLM", grouped), "Mistral": ("ForCausalLM", {"sliding_window": 128, **grouped}),
    "Mixtral": ("ForCausalLM", {"num_local_experts": 4, **grouped}), "Qwen2": ("ForCausalLM", grouped), "Gemma2": ("ForCausalLM", {"head_dim": 64, **grouped}),
    "T5": ("ForConditionalGeneration", {"num_layers": 2, "decoder_start_token_id": 0}), "Bart": ("ForConditionalGeneration", {"encoder_layers": 2, "decoder_layers": 2}),
    "Albert": ("ForMaskedLM", small), "Bloom": ("ForCausalLM", {"n_layer": 2, "hidden_size": 512, "n_head": 8}), "Falcon": ("ForCausalLM", {"hidden_size": 512, "num_attention_heads": 8, **small}),
    "Phi": ("ForCausalLM", {"hidden_size": 512, "num_attention_heads": 8, **small}), "OPT": ("ForCausalLM", small), "Longformer": ("ForMaskedLM", {"attention_window": [64, 64], **small}),
    "BigBird": ("ForMaskedLM", small), "Electra": ("ForMaskedLM", small), "Olmoe": ("ForCausalLM", {"num_experts": 8, **grouped})}
IMAGES = {
    "ViT": small, "Swin": {"depths": [2, 2]}, "DeiT": small, "ConvNext": {"depths": [1] * 4}, "Segformer": {"depths": [1] * 4}, "ResNet": {"depths": [1] * 4}}


def models():
    """(name, function)"""
    torch.backends.cudnn.enabled = False
    torch.backends.cuda.enable_cudnn_sdp(False)
    words = {"input_ids": torch.zeros(4, 512, dtype=long, device="cuda")}
    words["labels"] = words["input_ids"]
    for dtype, autocast in ((full, False), (low, False), (full, True)):
        pixels = {"pixel_values": empty(8, 3, 224, 224, dtype=dtype), "labels": torch.zeros(8, dtype=long, device="cuda")}
        for name, (head, config) in TEXT.items():
            yield f"{name} {dtype} {autocast}", functools.partial(train, name, head, config, words, dtype, autocast)
        for name, config in IMAGES.items():
            yield f"{name} {dtype} {autocast}", functools.partial(train, name, "ForImageClassification", config, pixels, dtype, autocast)


def train(name, head, config, inputs, dtype, autocast):
    with torch.device("cuda"):
        model = getattr(transformers, name + head)(getattr(transformers, name + "Config")(**config)).to(dtype)
    model.train()
    with torch.autocast("cuda", dtype=low, enabled=autocast):
        loss = model(**inputs).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    torch.optim.AdamW(model.parameters(), foreach=True).step()
    model.eval()
    with torch.no_grad():
        model(**inputs)

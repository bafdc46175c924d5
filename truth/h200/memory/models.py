"""The models by name: how each is built, its inputs, what is checkpointed, which batches."""
import dataclasses
from typing import Callable

import torch

from .networks import (
    RecurrentModel, Task, UNet, classification_loss, contrastive_loss, images, integers, language_loss,
    masked_language_loss, recurrent_loss, segmentation_loss, sequence_loss, speech_loss,
)


@dataclasses.dataclass(frozen=True)
class Model:
    """How a model is built and fed; `small` is the size for a machine without a GPU."""

    build: Callable  # (small) -> Task
    inputs: Callable  # (small, batch) -> tuple of CPU tensors
    blocks: tuple[str, ...]  # classes whose calls activation checkpointing recomputes
    batches: tuple[int, int]
    seconds: float  # on the GPU, estimated


def vision(package, name, blocks, batches, seconds, small_size=64, **small_settings):
    def build(small):
        settings = small_settings if small else {}
        if package == "torchvision":
            import torchvision.models

            made = getattr(torchvision.models, "VisionTransformer" if small_settings and small else name)
            network = made(**settings)
        else:
            import timm

            network = timm.create_model(name, pretrained=False, **settings)
        return Task(network, classification_loss)

    def inputs(small, batch):
        return images(batch, small_size if small else 224), integers(1000, batch)

    return Model(build, inputs, blocks, batches, seconds)


def from_transformers(config_name, model_name, settings, small_settings, loss):
    def build(small):
        import transformers

        config = getattr(transformers, config_name)(**{**settings, **(small_settings if small else {})})
        return Task(getattr(transformers, model_name)(config), loss)

    return build


def decoder(family, settings, small_settings, blocks, batches, seconds, model_name=None, length=512):
    vocabulary = settings.get("vocab_size", 32000)
    settings = {"use_cache": False, **settings}

    def inputs(small, batch):
        return (integers(500 if small else vocabulary, batch, 48 if small else length),)

    small_settings = {"vocab_size": 512, "bos_token_id": 1, "eos_token_id": 2, **small_settings}
    name = model_name or f"{family}ForCausalLM"
    build = from_transformers(f"{family}Config", name, settings, small_settings, language_loss)
    return Model(build, inputs, blocks, batches, seconds)


def gpt2(width, layers, heads, batches, seconds):
    settings = {"n_embd": width, "n_layer": layers, "n_head": heads, "vocab_size": 50257}
    small = {"n_embd": 64, "n_layer": 2, "n_head": 2}
    return decoder("GPT2", settings, small, ("GPT2Block",), batches, seconds, "GPT2LMHeadModel")


def grouped(family, width, inner, layers, heads, groups, batches, seconds, vocabulary=32000, **more):
    """A decoder whose query heads share key and value heads."""
    settings = {
        "hidden_size": width, "intermediate_size": inner, "num_hidden_layers": layers,
        "num_attention_heads": heads, "num_key_value_heads": groups, "vocab_size": vocabulary,
        **more,
    }
    small = {
        "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2,
    }
    return decoder(family, settings, small, (f"{family}DecoderLayer",), batches, seconds)


def bert():
    small = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
             "num_attention_heads": 2, "vocab_size": 512}
    build = from_transformers("BertConfig", "BertForMaskedLM", {}, small, masked_language_loss)

    def inputs(small, batch):
        length = 48 if small else 384
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[0, length // 2:] = 0
        return integers(500 if small else 30522, batch, length), mask

    return Model(build, inputs, ("BertLayer",), (8, 20), 3)


def t5():
    small = {"d_model": 64, "d_ff": 128, "d_kv": 32, "num_heads": 2, "num_layers": 2, "vocab_size": 512}
    settings = {"d_model": 512, "d_ff": 2048, "num_heads": 8, "num_layers": 6, "use_cache": False,
                "decoder_start_token_id": 0}
    build = from_transformers("T5Config", "T5ForConditionalGeneration", settings, small, sequence_loss)

    def inputs(small, batch):
        vocabulary = 500 if small else 32000
        return (integers(vocabulary, batch, 32 if small else 384),
                integers(vocabulary, batch, 16 if small else 128))

    return Model(build, inputs, ("T5Block",), (8, 20), 3)


def whisper():
    layers = {"encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8,
              "decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048}
    small = {name: 2 for name in layers} | {"encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "d_model": 64,
                                            "max_source_positions": 50}
    build = from_transformers("WhisperConfig", "WhisperForConditionalGeneration",
                              {"d_model": 512, "use_cache": False, **layers}, small, speech_loss)

    def inputs(small, batch):
        return torch.randn(batch, 80, 100 if small else 3000), integers(50000, batch, 8 if small else 96)

    return Model(build, inputs, ("WhisperEncoderLayer", "WhisperDecoderLayer"), (4, 10), 4)


def clip():
    few = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
    small = {"text_config": {**few, "vocab_size": 512, "eos_token_id": 2},
             "vision_config": {**few, "image_size": 64}}
    build = from_transformers("CLIPConfig", "CLIPModel", {}, small, contrastive_loss)

    def inputs(small, batch):
        return (integers(500 if small else 49000, batch, 16 if small else 77),
                images(batch, 64 if small else 224))

    return Model(build, inputs, ("CLIPEncoderLayer",), (16, 40), 4)


def unet():
    def build(small):
        return Task(UNet(8 if small else 64, 3 if small else 5), segmentation_loss)

    def inputs(small, batch):
        size = 64 if small else 256
        return images(batch, size), integers(2, batch, size, size)

    return Model(build, inputs, ("DoubleConvolution",), (4, 10), 4)


def lstm():
    def build(small):
        network = RecurrentModel(512, 64, 2) if small else RecurrentModel(10000, 1024, 2)
        return Task(network, recurrent_loss)

    def inputs(small, batch):
        return (integers(500 if small else 10000, batch, 16 if small else 128),)

    return Model(build, inputs, ("LSTM",), (32, 80), 2)


MODELS = {
    "resnet50": vision("torchvision", "resnet50", ("Bottleneck",), (32, 80), 5),
    "convnext_tiny": vision("timm", "convnext_tiny", ("ConvNeXtBlock",), (16, 40), 5,
                            depths=(1, 1, 2, 1), dims=(16, 32, 64, 128)),
    "efficientnet_b0": vision("timm", "efficientnet_b0", ("InvertedResidual",), (32, 80), 6),
    "unet": unet(),
    "vit_b_16": vision("torchvision", "vit_b_16", ("EncoderBlock",), (16, 40), 3, 64,
                       image_size=64, patch_size=16, num_layers=2, num_heads=2, hidden_dim=64, mlp_dim=128),
    "swin_t": vision("torchvision", "swin_t", ("SwinTransformerBlock",), (16, 40), 4),
    "bert_base": bert(),
    "gpt2_small": gpt2(768, 12, 12, (4, 10), 3),
    "gpt2_medium": gpt2(1024, 24, 16, (2, 6), 4),
    "t5_small": t5(),
    "llama_1b": grouped("Llama", 2048, 8192, 16, 32, 8, (1, 3), 6, 128256, tie_word_embeddings=True),
    "mistral_like": grouped("Mistral", 1024, 3584, 12, 16, 4, (2, 6), 4, sliding_window=256),
    "qwen_like": grouped("Qwen2", 896, 4864, 12, 14, 2, (2, 6), 4, 151936, tie_word_embeddings=True),
    "moe_small": grouped("Mixtral", 512, 1024, 6, 8, 4, (2, 6), 5, num_local_experts=8),
    "clip": clip(),
    "whisper_base": whisper(),
    "lstm": lstm(),
}

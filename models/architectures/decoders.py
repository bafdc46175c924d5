"""Decoders of transformers in the widths of known models, with few layers."""
import torch

from .architecture import Architecture, NamedInputs, tokens

LENGTH = 128


def logits(output):
    return output.logits


def decoder(family, config_name, model_name, dtype=torch.float32, batch=2, **settings):
    """The exporters see no cache; attention is PyTorch's own, as transformers takes it."""

    def build():
        import transformers

        config = getattr(transformers, config_name)(use_cache=False, **settings)
        model = in_dtype(dtype, lambda: getattr(transformers, model_name)(config))
        return NamedInputs(model, ("input_ids",), logits), (tokens(batch, LENGTH),)

    return Architecture(family, f"transformers {model_name}", build)


def in_dtype(dtype, build):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return build()
    finally:
        torch.set_default_dtype(before)


def causal(family, name, **settings):
    return decoder(family, f"{name}Config", f"{name}ForCausalLM", **settings)


ARCHITECTURES = {
    "gpt2_small": decoder("GPT-2", "GPT2Config", "GPT2LMHeadModel", n_layer=4),
    "gpt_neox": causal(
        "GPT-NeoX",
        "GPTNeoX",
        hidden_size=1024,
        intermediate_size=4096,
        num_hidden_layers=3,
        num_attention_heads=16,
    ),
    "opt_125m": causal("OPT", "OPT", num_hidden_layers=4),
    "bloom_560m": causal("BLOOM", "Bloom", hidden_size=1024, n_layer=3, n_head=16),
    "llama_3_1b": causal(
        "LLaMA",
        "Llama",
        dtype=torch.bfloat16,
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=2,
        num_attention_heads=32,
        num_key_value_heads=8,
        vocab_size=128256,
        tie_word_embeddings=True,
    ),
    "mistral_7b": causal(
        "Mistral",
        "Mistral",
        dtype=torch.bfloat16,
        num_hidden_layers=2,
        sliding_window=64,
    ),
    "qwen2_500m": causal(
        "Qwen",
        "Qwen2",
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=3,
        num_attention_heads=14,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    ),
    "qwen3_600m": causal(
        "Qwen",
        "Qwen3",
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=3,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        tie_word_embeddings=True,
    ),
    "gemma_2b": causal(
        "Gemma",
        "Gemma",
        dtype=torch.bfloat16,
        hidden_size=2048,
        intermediate_size=16384,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=1,
    ),
    "gemma2_2b": causal(
        "Gemma",
        "Gemma2",
        dtype=torch.bfloat16,
        num_hidden_layers=2,
        sliding_window=64,
    ),
    "gemma3_1b": decoder(
        "Gemma",
        "Gemma3TextConfig",
        "Gemma3ForCausalLM",
        hidden_size=1152,
        intermediate_size=6912,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=1,
        sliding_window=64,
    ),
    "phi3_mini": causal(
        "Phi", "Phi3", dtype=torch.bfloat16, num_hidden_layers=2, pad_token_id=0
    ),
    "mixtral_8x7b": causal(
        "Mixtral (MoE)",
        "Mixtral",
        dtype=torch.bfloat16,
        num_hidden_layers=1,
    ),
    "qwen3_moe": causal(
        "Qwen (MoE)",
        "Qwen3Moe",
        dtype=torch.bfloat16,
        hidden_size=1024,
        moe_intermediate_size=768,
        num_hidden_layers=2,
        num_experts=32,
        num_attention_heads=16,
    ),
    # In fp32 an export has transformers' own product of experts, elsewhere PyTorch's.
    "gpt_oss_20b": causal(
        "GPT-OSS (MoE)",
        "GptOss",
        num_hidden_layers=2,
        num_local_experts=4,
        vocab_size=32000,
        pad_token_id=0,
    ),
    "mamba_130m": causal("Mamba", "Mamba", batch=1, num_hidden_layers=2),
    "mamba2_130m": causal(
        "Mamba", "Mamba2", batch=1, hidden_size=768, num_heads=24, num_hidden_layers=2
    ),
    "rwkv_169m": causal("RWKV", "Rwkv", batch=1, hidden_size=768, num_hidden_layers=2),
}

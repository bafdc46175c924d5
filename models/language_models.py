"""Language models by configuration (no weights are fetched), on transformers' modules."""
import torch
import transformers
from transformers.integrations.sdpa_attention import sdpa_attention_forward


# An exporter cannot see that nothing is padded, so transformers writes the causal mask out as a
# tensor for it. Eager training passes is_causal instead, and so does an attention that has no entry
# in AttentionMaskInterface.
transformers.AttentionInterface.register("causal", sdpa_attention_forward)


class Logits(torch.nn.Module):
    """One tensor out, positional tensors in."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask=None):
        return self.model(input_ids, attention_mask=attention_mask).logits


def tokens(batch, length):
    return torch.zeros(batch, length, dtype=torch.int64)


def gpt2():
    """GPT-2 small: 12 layers, width 768; dropout 0.1, tied embeddings."""
    config = transformers.GPT2Config(use_cache=False, attn_implementation="causal")
    return Logits(transformers.GPT2LMHeadModel(config)), (tokens(4, 512),)


def bert_base():
    """BERT-base with its masked-language head; padding is masked by the second input."""
    config = transformers.BertConfig(attn_implementation="sdpa")
    mask = torch.ones(8, 128, dtype=torch.int64)
    return Logits(transformers.BertForMaskedLM(config)), (tokens(8, 128), mask)


def llama(key_value_heads, narrower=1, dtype=torch.bfloat16):
    """A decoder of the shape of LLaMA-7B, its layers, vocabulary and text so many times narrower."""
    config = transformers.LlamaConfig(
        hidden_size=4096 // narrower,
        intermediate_size=11008 // narrower,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=key_value_heads,
        vocab_size=32000 // narrower,
        max_position_embeddings=2048,
        use_cache=False,
        attn_implementation="causal",
    )
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return Logits(transformers.LlamaForCausalLM(config)), (tokens(1, 2048 // narrower),)
    finally:
        torch.set_default_dtype(before)


def llama_7b(**how):
    return llama(key_value_heads=32, **how)


def llama_7b_gqa(**how):
    return llama(key_value_heads=8, **how)

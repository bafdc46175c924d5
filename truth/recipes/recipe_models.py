"""The small models of the recipes: what make_recipes.py exports and runs.

Every builder returns (module, positional tensor inputs) on the CPU.
"""
import pathlib
import sys

import torch
from torch import nn

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
sys.path.insert(0, str(MODELS))


class MixedDtypes(nn.Module):
    """Half-precision layers around a norm in fp32, as networks in half precision have them; a
    parameter that nothing uses, one without dimensions, and one with three."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(24, 96, dtype=torch.bfloat16)
        self.norm = nn.LayerNorm(96)
        self.unused = nn.Parameter(torch.zeros(1000))
        self.temperature = nn.Parameter(torch.ones(()))
        self.heads = nn.Parameter(torch.zeros(3, 96, 40))
        self.down = nn.Linear(40, 7, dtype=torch.bfloat16)

    def forward(self, x):
        hidden = self.norm(self.up(x).float()) * self.temperature
        mixed = (hidden.unsqueeze(0) @ self.heads).sum(0)
        return self.down(mixed.to(torch.bfloat16))


def mixed():
    return MixedDtypes(), (torch.zeros(5, 24, dtype=torch.bfloat16),)


def gpt2():
    import language_models
    import transformers

    config = transformers.GPT2Config(n_layer=2, n_embd=64, n_head=2, vocab_size=512,
                                     n_positions=64, use_cache=False, bos_token_id=1,
                                     eos_token_id=2, attn_implementation="causal")
    return language_models.Logits(transformers.GPT2LMHeadModel(config)), (
        torch.zeros(2, 48, dtype=torch.int64),
    )


def of_zoo(name):
    import zoo

    return zoo.MODELS[name].build()


BUILDERS = {"mlp": lambda: of_zoo("mlp"), "convnet": lambda: of_zoo("convnet"), "gpt2": gpt2,
            "mixed": mixed}
OWN_FILES = ("gpt2", "mixed")  # the others are in models/tiny

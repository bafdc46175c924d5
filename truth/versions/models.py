"""What is profiled under every torch: modules as they are, and their exports by that torch. Each returns (module, inputs)."""
import importlib.util
import pathlib
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "models"))

IMAGES = (8, 3, 224, 224)
TORCHVISION = ("vit_b_16", "resnet50", "swin_t", "mobilenet_v3_large")
TINY = ("mlp", "convnet", "tied_lm", "rearranged", "dynamic_shapes", "aliases", "reused_layer", "reused_buffer", "kept_base", "mixed_dtypes")


SCRIPT = ROOT / "examples/python/train.py"


def classifier():
    """The one that the script trains."""
    spec = importlib.util.spec_from_file_location("train", SCRIPT)
    train = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(train)
    return train.Classifier()


class ScaledLoss(torch.nn.Module):
    """What the script's step does up to `backward`."""

    def __init__(self):
        super().__init__()
        self.model, self.scaler = classifier(), torch.amp.GradScaler("cuda")

    def forward(self, images, labels):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.cross_entropy(self.model(images), labels)
        return self.scaler.scale(loss)


def encoder():
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, activation="gelu", norm_first=True)
    return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


class LanguageModel(torch.nn.Module):
    """Causal grouped-query attention, RMSNorm and a gated layer, as in Llama."""

    def __init__(self, width=256, heads=8, groups=2, words=1000):
        super().__init__()
        self.heads, self.groups = heads, groups
        self.words, self.norm, self.last_norm = torch.nn.Embedding(words, width), torch.nn.RMSNorm(width), torch.nn.RMSNorm(width)
        self.query = torch.nn.Linear(width, width, bias=False)
        self.key_value = torch.nn.Linear(width, 2 * groups * width // heads, bias=False)
        self.gate, self.up = (torch.nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down, self.head = torch.nn.Linear(3 * width, width, bias=False), torch.nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens)
        y = self.norm(x)
        q = self.query(y).unflatten(2, (self.heads, -1)).transpose(1, 2)
        k, v = self.key_value(y).unflatten(2, (2 * self.groups, -1)).transpose(1, 2).chunk(2, 1)
        attention = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + attention.transpose(1, 2).flatten(2)
        y = self.last_norm(x)
        return self.head(x + self.down(torch.nn.functional.silu(self.gate(y)) * self.up(y)))


def build(name):
    if name in TORCHVISION:
        import torchvision

        return getattr(torchvision.models, name)(), (torch.zeros(IMAGES),)
    if name in TINY:
        import tiny_models

        return getattr(tiny_models, name)()
    if name == "classifier":
        return classifier(), (torch.zeros(IMAGES),)
    if name == "encoder":
        return encoder(), (torch.zeros(4, 128, 256),)
    if name == "language_model":
        return LanguageModel(), (torch.zeros(4, 128, dtype=torch.long),)
    if name == SCRIPT.name:
        return ScaledLoss(), (torch.zeros(IMAGES), torch.zeros(IMAGES[0], dtype=torch.long))
    raise KeyError(name)


NAMES = (*TORCHVISION, "classifier", "encoder", "language_model", *TINY)
EXPORTED = (*TORCHVISION[:2], "classifier", "encoder", "language_model", *TINY)
FIGURES = ("param_bytes", "buffer_bytes", "fwd_flops", "bwd_flops", "saved_bytes")

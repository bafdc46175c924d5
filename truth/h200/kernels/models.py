"""The models whose whole training steps are recorded. Each builder gives (module, inputs, loss of
the module's output); sizes are those people train with, or tiny ones to try the script."""
import collections
import functools

import torch

# autocast: dtype of torch.autocast or None; dtype: of the parameters; optimizer: see OPTIMIZERS.
Recipe = collections.namedtuple("Recipe", "build dtype autocast channels_last optimizer")


LIBRARIES: list[torch.library.Library] = []  # an operator lives as long as its library


def declare_torchvision_operators():
    """Lets a torchvision whose compiled operators do not fit this PyTorch be imported, and
    transformers, which imports it: no model here calls them."""
    if LIBRARIES or torch.version.cuda:
        return
    LIBRARIES.append(torch.library.Library("torchvision", "FRAGMENT"))
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            LIBRARIES[0].define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def classes(output):
    target = torch.zeros(output.shape[0], dtype=torch.int64, device=output.device)
    return torch.nn.functional.cross_entropy(output, target)


def first_loss(output):
    return output.loss


def image_model(name, image_size, batch):
    def build(small, device):
        declare_torchvision_operators()
        import torchvision
        model = getattr(torchvision.models, name)(weights=None, num_classes=1000)
        images = torch.randn(2 if small else batch, 3, image_size, image_size, device=device)
        return model, {"": images}, classes
    return build


def token_model(kind, options, small_options, batch, length):
    """A model of transformers with a language-modelling loss, made from its configuration."""
    def build(small, device):
        declare_torchvision_operators()
        import transformers
        config_class, model_class = kind
        config = getattr(transformers, config_class)(**{**options, **(small_options if small else {})})
        model = getattr(transformers, model_class)(config)
        sizes = (2, 16) if small else (batch, length)
        ids = torch.randint(config.vocab_size, sizes, device=device)
        return model, {"input_ids": ids, "labels": ids}, first_loss
    return build


def perceptron(small, device):
    width = 64 if small else 4096
    layers = []
    for _ in range(8):
        layers += [torch.nn.Linear(width, width), torch.nn.GELU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1000))
    return model, {"": torch.randn(8 if small else 4096, width, device=device)}, classes


class Recurrent(torch.nn.Module):
    def __init__(self, width, kind="LSTM", bidirectional=False):
        super().__init__()
        self.lstm = getattr(torch.nn, kind)(width, width, num_layers=2, batch_first=True, bidirectional=bidirectional)
        self.head = torch.nn.Linear(width * (1 + bidirectional), 1000)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def recurrent(small, device, kind="LSTM", bidirectional=False, sizes=(1024, 64, 256)):
    width, batch, length = (16, 2, 5) if small else sizes
    model = Recurrent(width, kind, bidirectional)
    return model, {"": torch.randn(batch, length, width, device=device)}, classes


BERT = token_model(("BertConfig", "BertForMaskedLM"), {},
                   {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2,
                    "intermediate_size": 64, "vocab_size": 99}, 16, 512)
GPT2 = token_model(("GPT2Config", "GPT2LMHeadModel"), {},
                   {"n_layer": 1, "n_embd": 32, "n_head": 2, "vocab_size": 99}, 8, 1024)
LLAMA = token_model(("LlamaConfig", "LlamaForCausalLM"),
                    {"hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 16,
                     "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000},
                    {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1,
                     "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 99}, 4, 2048)

MODELS = {
    "perceptron_float32": Recipe(perceptron, "float32", None, False, "adamw_foreach"),
    "perceptron_bfloat16": Recipe(perceptron, "bfloat16", None, False, "adamw_fused"),
    "resnet50_float32": Recipe(image_model("resnet50", 224, 64), "float32", None, False, "sgd"),
    "resnet50_autocast": Recipe(image_model("resnet50", 224, 128), "float32", "bfloat16", True, "sgd"),
    "mobilenet_v2_float32": Recipe(image_model("mobilenet_v2", 224, 64), "float32", None, False, "sgd"),
    "convnext_tiny_autocast": Recipe(image_model("convnext_tiny", 224, 64), "float32", "bfloat16",
                                     True, "adamw_foreach"),
    "vit_b_16_autocast": Recipe(image_model("vit_b_16", 224, 64), "float32", "bfloat16", False,
                                "adamw_fused"),
    "swin_t_float32": Recipe(image_model("swin_t", 224, 32), "float32", None, False, "adamw_foreach"),
    "bert_base_float32": Recipe(BERT, "float32", None, False, "adamw_foreach"),
    "bert_base_autocast": Recipe(BERT, "float32", "bfloat16", False, "adamw_fused"),
    "gpt2_autocast": Recipe(GPT2, "float32", "bfloat16", False, "adamw_fused"),
    "llama_1b_bfloat16": Recipe(LLAMA, "bfloat16", None, False, "adamw_foreach"),
    "lstm_float32": Recipe(recurrent, "float32", None, False, "adam_foreach"),
    "lstm_bidirectional_bfloat16": Recipe(functools.partial(recurrent, bidirectional=True, sizes=(512, 32, 100)), "bfloat16",
                                          None, False, "adamw_fused"),
    "gru_float32": Recipe(functools.partial(recurrent, kind="GRU", sizes=(768, 48, 80)), "float32", None, False, "sgd"),
    "mobilenet_v2_autocast": Recipe(image_model("mobilenet_v2", 224, 96), "float32", "bfloat16", True, "sgd"),
    "efficientnet_b0_float32": Recipe(image_model("efficientnet_b0", 224, 48), "float32", None, False, "sgd"),
    "resnext50_float32": Recipe(image_model("resnext50_32x4d", 224, 48), "float32", None, False, "sgd"),
}


def optimizer_of(name, parameters):
    makers = {"sgd": lambda: torch.optim.SGD(parameters, lr=1e-4, momentum=0.9),
              "adam_foreach": lambda: torch.optim.Adam(parameters, lr=1e-5, foreach=True),
              "adamw_foreach": lambda: torch.optim.AdamW(parameters, lr=1e-5, foreach=True),
              "adamw_fused": lambda: torch.optim.AdamW(parameters, lr=1e-5, fused=True)}
    return makers[name]()

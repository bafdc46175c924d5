"""The models of the steps: those of h200/record_memory.py, each a network with its loss."""
import functools
import pathlib
import sys

import torch
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "h200"))

from memory.models import MODELS

# Images are small, so there are more of them: else parameters would be all that counts.
BATCHES = {
    "resnet50": 16, "convnext_tiny": 8, "efficientnet_b0": 8, "unet": 4, "vit_b_16": 8, "swin_t": 8,
    "bert_base": 4, "gpt2_small": 4, "t5_small": 4, "llama_1b": 4, "mistral_like": 4,
    "qwen_like": 4, "clip": 4,
}


def build(name):
    """(module that returns its loss, inputs) on the CPU."""
    model = MODELS[name]
    torch.manual_seed(0)
    task = model.build(True).train()
    for module in task.modules():
        if hasattr(module, "layerdrop"):  # tosses for each layer, and no program has that
            module.training = False
    return task, model.inputs(True, BATCHES[name])


def block_paths(name, task):
    """Of the modules that checkpointing recomputes."""
    blocks = MODELS[name].blocks
    return [path for path, module in task.named_modules() if type(module).__name__ in blocks]


def patterns(paths):
    """As `symprof --checkpoint` takes them: the last component is any."""
    return sorted({path.rpartition(".")[0] + ".*" for path in paths})


def matched(task, paths):
    """All modules that the patterns match: a call of each is one region."""
    wanted = patterns(paths)
    return [path for path, _ in task.named_modules() if path.rpartition(".")[0] + ".*" in wanted]


def run_again(module):
    module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)


def eager(task, paths):
    for path in paths:
        run_again(task.get_submodule(path))
    return task

#!/usr/bin/env python3
"""Snapshots of one training script before and after a change, for 20 changes: PyTorch's CUDA build on a stub CUDA driver.

Usage: planted.py make FOLDER [CHANGE …]         # with the CUDA build, in the fake GPU's environment (truth/scripts/README.md)
       planted.py compare SYMPROF_BINARY FOLDER  # prints docs/evaluation's table; exit 1 where fewer than 18 are first

A change is a line of the script replaced. Its lines are those that ask for the memory that comes, goes or grows: the new line itself,
or where it lets something live longer, the line that made it. `compare` asks whether the first row of `symprof memory A -- B` is one
of them."""
import gc
import json
import pathlib
import subprocess
import sys

SCRIPT = """\
import copy
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        h = self.norm(x)
        h = self.up(h)
        h = F.gelu(h)
        h = self.down(h)
        return x + h


class Model(nn.Module):
    def __init__(self, vocabulary, width, layers):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def train(steps):
    model = Model(4096, 256, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    kept = []
    for step in range(steps):
        tokens = torch.randint(0, 4096, (8, 256), device="cuda")
        logits = model(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        kept.append(loss.item())
"""
CHECKPOINTED = "            x = checkpoint(block, x, use_reentrant=False)"
INNER = ("h = self.norm(x)", "h = self.up(h)", "h = F.gelu(h)", "h = self.down(h)", "return x + h")

# What it is, the line before, the line (or lines) after, and which lines ask for the memory that changes: their texts.
CHANGES = {
    "checkpoint_removed": (CHECKPOINTED, "            x = block(x)", INNER),
    "checkpoint_added": ("            x = block(x)", CHECKPOINTED, INNER),
    "checkpoint_removed_in_one_layer": (
        CHECKPOINTED, "            x = block(x) if block is self.blocks[0] else checkpoint(block, x, use_reentrant=False)", INNER),
    "loss_kept": ("        kept.append(loss.item())", "        kept.append(loss)", ("loss = F.cross_entropy(",)),
    "logits_kept": ("        kept.append(loss.item())", "        kept.append(logits.detach())", ("return self.head(x)",)),
    "copy_kept": ("        kept.append(loss.item())", "        kept.append(logits.detach().clone())",
                  ("kept.append(logits.detach().clone())",)),
    "graph_retained": ("        loss.backward()", "        loss.backward(retain_graph=True)",
                       ("return self.head(x)", "loss = F.cross_entropy(", *INNER)),
    "ema": ("    kept = []", "    kept = [copy.deepcopy(model)]", ("kept = [copy.deepcopy(model)]",)),
    "adamw": ("    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)",
              "    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)", ("optimizer.step()",)),
    "no_momentum": ("    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)",
                    "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)", ("optimizer.step()",)),
    "batch_of_one_layer": ("        return self.head(x)", "        return self.head(torch.cat([x, x]))[: len(x)]",
                           ("return self.head(torch.cat([x, x]))[: len(x)]",)),
    "wider_layer": ("        self.up = nn.Linear(width, 4 * width)\n        self.down = nn.Linear(4 * width, width)",
                    "        self.up = nn.Linear(width, 6 * width)\n        self.down = nn.Linear(6 * width, width)",
                    ("h = self.up(h)", "h = F.gelu(h)")),
    "loss_in_double": ("        loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())",
                       "        loss = F.cross_entropy(logits.flatten(0, 1).double(), tokens.flatten())",
                       ("loss = F.cross_entropy(",)),
    "mask_held": ("    kept = []", "    kept = [torch.ones(8, 4, 256, 256, device='cuda')]",
                  ("kept = [torch.ones(8, 4, 256, 256, device='cuda')]",)),
    "dropout_added": ("        h = F.gelu(h)", "        h = F.dropout(F.gelu(h), 0.1)", ("h = F.dropout(F.gelu(h), 0.1)",)),
    "relu_for_gelu": ("        h = F.gelu(h)", "        h = F.relu(h)", ("h = self.up(h)", "h = F.relu(h)")),
    "second_norm": ("        return x + h", "        return self.norm(x + h)", ("return self.norm(x + h)",)),
    "sine_added": ("        h = self.up(h)", "        h = self.up(torch.sin(h))", ("h = self.up(torch.sin(h))",)),
    "tied_head": ("        self.head = nn.Linear(width, vocabulary)",
                  "        self.head = nn.Linear(width, vocabulary)\n        self.head.weight = self.embed.weight",
                  ("model = Model(", "optimizer.step()", "EmbeddingBackward0", "EmbeddingDenseBackward0")),
    "fewer_layers": ("    model = Model(4096, 256, 4).cuda()", "    model = Model(4096, 256, 3).cuda()",
                     ("h = self.up(h)", "h = F.gelu(h)")),
}


def sources(name):
    """The script before and after the change."""
    before, after, _ = CHANGES[name]
    script = SCRIPT.replace("            x = block(x)", before) if before == CHECKPOINTED else SCRIPT
    assert script.count(before) == 1, name
    return script, script.replace(before, after)


def record(source, path):
    import torch

    torch.cuda.memory._record_memory_history(max_entries=100_000)
    names = {"__name__": "train"}
    exec(compile(source, "/job/train.py", "exec"), names)
    names["train"](3)
    torch.cuda.memory._dump_snapshot(str(path))
    torch.cuda.memory._record_memory_history(enabled=None)
    names.clear()
    gc.collect()
    torch.cuda.empty_cache()


def make(folder, names):
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    record(SCRIPT, folder / "first.pickle")  # cuBLAS's workspaces stay: they are before the recording in all others.
    for name in names or CHANGES:
        for source, side in zip(sources(name), ("before", "after")):
            record(source, folder / f"{name}.{side}.pickle")
        print(name, torch.cuda.memory_allocated(), flush=True)
    (folder / "first.pickle").unlink()


def is_line_of(row, side, source, texts):
    """Whether the row's name on that side is one of the lines."""
    name = row[side]["name"]
    if name in texts:
        return True
    lines = source.splitlines()
    found = name.split(" ")[0].rpartition(":")
    return found[0].endswith("train.py") and any(text in lines[int(found[2]) - 1] for text in texts)


def compare(program, folder):
    first = 0
    print("| change | growth of the peak | first row | |\n| --- | ---: | --- | --- |")
    for name, (_, _, texts) in CHANGES.items():
        paths = [folder / f"{name}.{side}.pickle" for side in ("before", "after")]
        done = subprocess.run([program, "memory", "--format", "json", paths[0], "--", paths[1]], capture_output=True, text=True, check=True)
        both = json.loads(done.stdout)
        row = both["lines"][0]
        before, after = sources(name)
        is_first = is_line_of(row, "after", after, texts) or is_line_of(row, "before", before, texts)
        first += is_first
        grown = both["after"]["peak_allocated_bytes"] - both["before"]["peak_allocated_bytes"]
        line = row["after"]["name"] or row["before"]["name"]
        print(f"| {name} | {grown:+,} | {line}, {row['bytes']:+,} | {'first' if is_first else 'not first'} |")
    print(f"\n{first} of {len(CHANGES)}")
    return first < 18


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), sys.argv[3:])
    else:
        sys.exit(compare(sys.argv[2], pathlib.Path(sys.argv[3])))

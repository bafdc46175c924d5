#!/usr/bin/env python3
"""Puts symprof beside what two training systems that are not PyTorch's engines measured: the most memory that Megatron-LM's
tests allocate on the last rank, and the throughput of llm-foundry's MPT under FSDP.

Usage: python sanity.py SYMPROF STEPS_MEGATRON_CI.csv STEPS_LLMFOUNDRY_MPT.csv

Needs torch. Models are made without weights in a temporary folder. Both systems differ from what symprof simulates (fused
kernels, one layer for queries, keys and values, buffers of their own), so nothing is to be equal: docs/evaluation/parallel.md."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent.parent / "models")]
import pt2_file  # noqa: E402


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.head, self.dropout, self.is_fused = width // heads, dropout, not dropout
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, q, k, v):
        if self.is_fused:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = torch.matmul(q, k.transpose(2, 3)) * self.head**-0.5
        return torch.matmul(F.dropout(F.softmax(scores, -1), self.dropout), v)

    def forward(self, x):
        batch, length, _ = x.shape
        h = self.norm1(x)
        q, k, v = (w(h).view(batch, length, -1, self.head).transpose(1, 2) for w in (self.q, self.k, self.v))
        y = self.o(self.attention(q, k, v).transpose(1, 2).reshape(batch, length, -1))
        x = x + F.dropout(y, self.dropout)
        y = self.down(F.gelu(self.up(self.norm2(x))))
        return x + F.dropout(y, self.dropout)


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, vocab, length, dropout=0.0):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, width), nn.Parameter(torch.zeros(1, length, width))
        self.layers = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class WithLoss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, target):
        y = self.model(tokens)
        return F.cross_entropy(y.flatten(0, 1).float(), target.flatten())


def export(folder, name, batch, length, **sizes):
    with FakeTensorMode():
        tokens = torch.empty(batch, length, dtype=torch.long)
        program = pt2_file.export(WithLoss(Gpt(length=length, **sizes)), (tokens, tokens.clone()), "train")
    path = folder / f"{name}.pt2"
    pt2_file.write(program, path, keep_weights=False)
    return path


def ask(symprof, *arguments):
    done = subprocess.run([symprof, *map(str, arguments), "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


# Of 8 GPUs, with a global batch of 32 in microbatches of 4: what follows of each microbatch goes to other copies.
MEGATRON = {"gpt/gpt3_mcore_tp1_pp2": "pp=2:1f1b:mb=2:rank=1", "gpt/gpt3_mcore_tp1_pp4": "pp=4:1f1b:mb=4:rank=3",
            "gpt/gpt3_mcore_tp4_pp1": "tp=4:loss"}


def megatron(symprof, table, folder):
    model = export(folder, "gpt3", 4, 1024, layers=12, width=512, heads=8, vocab=50688, dropout=0.1)
    rows = {(r["gpu"], r["image"], r["case"]): r for r in csv.DictReader(open(table))}
    for case, engine in MEGATRON.items():
        measured = int(rows["A100-SXM-80GB", "dev", case]["max_allocated_bytes"])
        micro_batches = ["--micro-batches", 4] if engine.startswith("tp") else []
        found = ask(symprof, "profile", model, "--parallel", engine, "--dtype", "bf16", "--master-weights", "--optimizer",
                    "adam:fused", "--device", "a100-80g", *micro_batches)["totals"]["peak_allocated_bytes"]
        print(f"{case} {measured / 2**30:.2f} GiB measured, {found / 2**30:.2f} GiB found: {found / measured:.2f}", flush=True)


MPT = {"mpt-1b": dict(layers=24, width=2048, heads=16), "mpt-7b": dict(layers=32, width=4096, heads=32),
       "mpt-13b": dict(layers=40, width=5120, heads=40)}


def foundry(symprof, table, folder):
    for row in csv.DictReader(open(table)):
        wanted = row["model"] in MPT and row["n_gpus"] in ("8", "64") and row["seq"] == "2048" and "80gb" in row["gpu"]
        if not wanted or row["act_ckpt"] == "1":
            continue
        path = folder / f"{row['model']}.pt2"
        if not path.exists():  # Of one sample.
            export(folder, row["model"], 1, 2048, vocab=50368, **MPT[row["model"]])
        device = "a100-80g" if row["gpu"].startswith("a100") else "h100"
        mesh = "8" if row["n_gpus"] == "8" else "8x8"
        layout = f"fsdp={row['n_gpus']} mb={row['grad_accum']}"
        plan = ask(symprof, "plan", "parallel", path, "--dtype", "bf16", "--optimizer", "adamw", "--device", device, "--mesh",
                   mesh, "--global-batch", row["global_batch"], "--layout", layout)["alternatives"][0]
        measured, found = float(row["step_ms"]), plan["step_time_us"] / 1e3
        print(f"{row['model']} {device} {row['n_gpus']} {row['grad_accum']}x{row['micro_batch']} {row['sharding']}: "
              f"{measured:.0f} ms measured, {plan['layout']}: {found:.0f} ms found: {found / measured:.2f}", flush=True)


def main():
    symprof, megatron_table, foundry_table = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        megatron(symprof, megatron_table, pathlib.Path(folder))
        foundry(symprof, foundry_table, pathlib.Path(folder))


if __name__ == "__main__":
    main()

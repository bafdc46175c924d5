#!/usr/bin/env python3
"""Judges the time of whole steps on NeuSight's measured ones: fp32, TF32 off, attention in single calls, no optimizer.

    python scripts/time/judge_steps.py DATA [--program build/release/bin/symprof] [--work FOLDER]

Writes the second part of docs/evaluation/time_accuracy.md. The models are written out here, node by node as NeuSight's files list
them (asplos/data/label, transformers of 2023), since today's packages make other calls. torch 2.13 is needed as well."""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy
import pandas
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "models"))
import pt2_file  # noqa: E402

import sources  # noqa: E402

MARK, RECURRENT = "\n## Whole steps\n", "\n## Recurrent models\n"
TEXT = """`scripts/time/judge_steps.py` writes this part: NeuSight's fp32 steps without optimizer, on devices whose operators are
fitted: on NeuSight's own rows, but H100 on PyTorch's calls on an H200, with none of NeuSight's. No step is, though rows
that were drawn may have sizes of these models. Errors are of the whole step, in per cent. NeuSight empties PyTorch's cache
before each step (`measure_e2e` in `neusight/Tracing/trace.py`), so that cudaMalloc is in the measured time: not in that of
backward passes, which find what forward has freed, but in forward's. On that A100 of 80 GB backward passes are within 10 %;
of the forward passes three are within 5 %, and four take 7 to 12 ms longer for each GB that they keep, which no figure of
theirs tells from the three: GPT-2 of one sample keeps 12 GB and takes 97 ms longer, of four 49 GB and 24 ms. *With
cudaMalloc* adds to a training step a time for each GB that forward keeps, the one with which the largest error of the
device's other training steps is least ({per_gb}); the step itself has no part in it. Its T4 lowers its clocks (70 W), and not always by as much: 24
products of 512 x 512 x 128 take 653 µs there, and 48 of them 544 µs, with the same kernel. *Operators* is the sum of what
NeuSight measured for the same step's operators, one at a time: the error of a prediction that has every kernel right. Where
that is over 12 %, on A100s and V100, no kernels' times alone can be nearer but by chance.
"""


class Attention(nn.Module):
    """Products, scale, mask, softmax and dropout as calls of their own."""

    def __init__(self, width, heads, style):
        super().__init__()
        self.heads, self.style, self.depth = heads, style, width // heads
        self.parts = nn.ModuleList([nn.Linear(width, 3 * width)] if style == "gpt" else
                                   [nn.Linear(width, width) for _ in range(3)])
        self.out = nn.Linear(width, width)
        self.dropout, self.last = nn.Dropout(0.1), nn.Dropout(0.1)

    def forward(self, x, mask):
        batch, length, width = x.shape
        made = self.parts[0](x).split(width, 2) if self.style == "gpt" else [part(x) for part in self.parts]
        if self.style == "opt":
            made = [made[0] * self.depth ** -0.5, *made[1:]]
        query, key, value = (one.view(batch, length, self.heads, self.depth).transpose(1, 2) for one in made)
        if self.style == "opt":
            query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        scores = query @ key.transpose(-1, -2)
        if self.style == "gpt":
            scores = torch.where(mask, scores / math.sqrt(self.depth), torch.finfo(x.dtype).min)
        elif self.style == "opt":
            scores = torch.max(scores + mask, torch.full((), torch.finfo(x.dtype).min, device=x.device))
        else:
            scores = scores / math.sqrt(self.depth) + mask
        shares = scores.softmax(-1)
        if self.style != "opt":
            shares = self.dropout(shares)
        joined = (shares @ value).transpose(1, 2).reshape(batch, length, width)
        return self.last(self.out(joined))


class Layer(nn.Module):
    def __init__(self, width, heads, style):
        super().__init__()
        self.style = style
        self.attention = Attention(width, heads, style)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)

    def activate(self, x):
        if self.style == "opt":
            return torch.relu(x)
        if self.style == "bert":
            return nn.functional.gelu(x)
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))

    def forward(self, x, mask):
        if self.style == "bert":
            x = self.first(self.attention(x, mask) + x)
            return self.second(self.dropout(self.down(self.activate(self.up(x)))) + x)
        x = self.attention(self.first(x), mask) + x
        return self.dropout(self.down(self.activate(self.up(self.second(x))))) + x


class Model(nn.Module):
    """As NeuSight has it: BERT ends in its pooler in inference, and has the heads of its pre-training beside it in
    training."""

    def __init__(self, width, layers, heads, style, vocabulary, length, has_head=True):
        super().__init__()
        self.style = style
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.types = nn.Embedding(2, width) if style == "bert" else None
        self.dropout, self.norm = nn.Dropout(0.1), nn.LayerNorm(width)
        self.layers = nn.ModuleList([Layer(width, heads, style) for _ in range(layers)])
        self.pooler = nn.Linear(width, width) if style == "bert" else None
        self.dense = nn.Linear(width, width) if style == "bert" and has_head else None
        self.dense_norm = nn.LayerNorm(width) if style == "bert" and has_head else None
        self.head = nn.Linear(width, vocabulary, bias=style == "bert") if has_head else None
        if has_head:
            self.head.weight = self.tokens.weight

    def mask(self, x, batch, length):
        if self.style == "gpt":
            return torch.ones(1, 1, length, length, dtype=torch.bool, device=x.device).tril()
        shape = (batch, 1, 1, length) if self.style == "bert" else (batch, 1, length, length)
        return torch.zeros(shape, device=x.device)

    def forward(self, ids):
        batch, length = ids.shape
        x = self.tokens(ids) + self.places(torch.arange(length, device=ids.device).unsqueeze(0))
        if self.types is not None:
            x = self.norm(x + self.types(torch.zeros_like(ids)))
        if self.style != "opt":
            x = self.dropout(x)
        mask = self.mask(x, batch, length)
        for layer in self.layers:
            x = layer(x, mask)
        if self.pooler is None:
            return self.head(self.norm(x))
        pooled = torch.tanh(self.pooler(x[:, 0]))
        if self.head is None:
            return pooled
        return self.head(self.dense_norm(nn.functional.gelu(self.dense(x)))), pooled


MODELS = {  # Width, layers, heads, style, vocabulary, length.
    "bert_large": (1024, 24, 16, "bert", 30522, 512), "gpt2_large": (1280, 36, 20, "gpt", 50257, 1024),
    "gpt3_xl": (3072, 24, 24, "gpt", 50257, 2048), "opt_13": (2048, 24, 32, "opt", 50272, 2048)}


BEHIND_LAYERS = ("bert_pooler", "transformer_ln_f", "model_decoder_final")


def write_model(path, name, mode, batch):
    with FakeTensorMode():
        model = Model(*MODELS[name], has_head=mode == "train" or MODELS[name][3] != "bert")
        ids = torch.zeros(batch, MODELS[name][5], dtype=torch.int64)
        program = pt2_file.export(model, (ids,), "train" if mode == "train" else "eval")
        pt2_file.write(program, path, keep_weights=False)


def predicted(program, path, mode, device):
    how = ["--mode", "train"] if mode == "train" else ["--mode", "inference"]
    out = subprocess.run([program, "profile", path, *how, "--device", device, "--time", "--format", "json"],
                         capture_output=True, text=True, check=True).stdout
    answer = json.loads(out)
    time = answer["time"]
    if time["unknown_calls"]:
        print("not timed:", path, time["unknown_ops"], file=sys.stderr)
    totals = answer["totals"]
    return [us / 1e3 for us in (totals["step_time_us"], time["step_time_low_us"], time["step_time_high_us"],
                                totals["fwd_time_us"], totals["bwd_time_us"] or 0)] + [totals["saved_bytes"] / 1e9]


def sum_of_operators(nodes, model):
    """Milliseconds of all nodes of a step, of which one layer is listed."""
    name, us = nodes.node.tolist(), (nodes.fw_us + nodes.bw_us + nodes.acc_us).to_numpy()
    of_layer = [place for place, one in enumerate(name) if any(part in one for part in ("_layer_0_", "_layers_0_", "_h_0_"))]
    behind = next(place for place, one in enumerate(name) if one.startswith(BEHIND_LAYERS))
    return (us.sum() + (MODELS[model][1] - 1) * us[of_layer[0]:behind].sum()) / 1e3


def operators(data, table):
    nodes = pandas.read_csv(pathlib.Path(data) / "ops_neusight_modelgraph_fp32.csv")
    same = ["gpu", "model", "mode", "batch"]
    return [sum_of_operators(nodes[(nodes[same] == row[same]).all(axis=1)], row.model) for _, row in table.iterrows()]


def judged(program, data, work):
    table = pandas.read_csv(pathlib.Path(data) / "steps_neusight_fp32.csv")
    table = table[(table.n_gpus == 1) & table.option.isna() & table.gpu.isin(sources.NEUSIGHT)].reset_index(drop=True)
    rows = []
    for _, row in table.iterrows():
        path = work / f"{row.model}_{row['mode']}_{row.batch}.pt2"
        if not path.exists():
            write_model(path, row.model, row["mode"], int(row.batch))
        rows.append(predicted(program, path, row["mode"], sources.NEUSIGHT[row.gpu]))
    values = numpy.array(rows)
    return table.assign(**dict(zip(("us", "low", "high", "forward", "backward", "kept_gb"), values.T)), operators=operators(data, table))


MS_PER_GB = numpy.arange(0, 20, 0.05)  # What cudaMalloc is looked for in.
FEWEST_OTHERS = 3


def with_allocations(table):
    """Each step with what cudaMalloc takes for what forward keeps, as the other training steps of its device have it, and
    the lowest and highest milliseconds for each GB by device."""
    table, found = table.assign(allocating=table.us), {}
    for gpu, steps in table[table["mode"] == "train"].groupby("gpu"):
        if len(steps) <= FEWEST_OTHERS:
            continue
        errors = numpy.log((steps.us.to_numpy() + MS_PER_GB[:, None] * steps.kept_gb.to_numpy()) / steps.step_ms.to_numpy())
        per_gb = [MS_PER_GB[abs(numpy.delete(errors, place, axis=1)).max(axis=1).argmin()] for place in range(len(steps))]
        table.loc[steps.index, "allocating"] = steps.us + per_gb * steps.kept_gb
        found[sources.NEUSIGHT[gpu]] = min(per_gb), max(per_gb)
    return table, found


def page_of(table):
    table, per_gb = with_allocations(table)
    said = ", ".join(f"{device} {low:.1f} to {high:.1f} ms" for device, (low, high) in per_gb.items())
    lines = [MARK, TEXT.format(per_gb=said),
             "| device | model | mode | batch | measured | predicted | interval | error | with cudaMalloc | forward's | "
             "backward's | operators | NeuSight's | roofline's |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    off = lambda value, row: 100 * (value / row.step_ms - 1)
    part = lambda value, measured: f"{100 * (value / measured - 1):+.1f}" if measured > 0 else "-"
    for _, row in table.iterrows():
        lines.append(f"| {sources.NEUSIGHT[row.gpu]} | {row.model} | {row['mode']} | {row.batch} | {row.step_ms:.1f} ms | "
                     f"{row.us:.1f} ms | {row.low:.0f} to {row.high:.0f} | {off(row.us, row):+.1f} | "
                     f"{off(row.allocating, row):+.1f} | {part(row.forward, row.fwd_ms)} | {part(row.backward, row.bwd_ms)} | "
                     f"{off(row.operators, row):+.1f} | {off(row.neusight_ms, row):+.1f} | "
                     f"{off(row.roofline_ms, row):+.1f} |")
    lines += ["", "| device | steps | mean error | largest | with cudaMalloc | largest | within | operators' mean | their largest | "
              "NeuSight's mean | roofline's mean |",
              "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for gpu, part in [*table.groupby("gpu"), ("all", table)]:
        mean = lambda column: (100 * (part[column] / part.step_ms - 1).abs()).mean()
        largest = lambda column: (100 * (part[column] / part.step_ms - 1).abs()).max()
        within = ((part.low <= part.step_ms) & (part.step_ms <= part.high)).mean()
        lines.append(f"| {sources.NEUSIGHT.get(gpu, gpu)} | {len(part)} | {mean('us'):.1f} | "
                     f"{largest('us'):.1f} | {mean('allocating'):.1f} | {largest('allocating'):.1f} | {100 * within:.0f} % | {mean('operators'):.1f} | {largest('operators'):.1f} | "
                     f"{mean('neusight_ms'):.1f} | {mean('roofline_ms'):.1f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--program", default=ROOT / "build" / "release" / "bin" / "symprof")
    parser.add_argument("--work", default=None, help="a folder that keeps the exported models")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = page_of(judged(given.program, given.data, pathlib.Path(given.work or folder)))
    page = ROOT / "docs/evaluation/time_accuracy.md"
    before, _, after = page.read_text().partition(MARK)
    _, mark, others = after.partition(RECURRENT)  # judge_recurrent.py and fit_timm.py write those.
    page.write_text(before + text + mark + others)
    print(text)


if __name__ == "__main__":
    main()

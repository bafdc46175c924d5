"""Models that are exported with a fixed batch, and again with another one: the first, asked for the batch of the
second, has to answer what the second does (tests/cli/foreign/fixed_batch.py).

    fixed_batch.py FOLDER     needs torch 2.13; for the ONNX files onnx and onnxscript

Writes FOLDER/<model>_b<batch>.{pt2,onnx,pt}; fixed_batch/ has what torch 2.13 and onnxscript 0.7.2 wrote. The files
have the numbers of their batch in views, expansions, new tensors and products of sizes, as code gives them that reads
x.shape."""
import pathlib
import sys
import warnings
import zipfile

import torch
import torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3 * 4 * 4, 16), nn.GELU(), nn.Linear(16, 10))

    def forward(self, x):
        return self.layers(x.view(x.shape[0], -1))

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 3, 4, 4),)


class Vit(nn.Module):
    """Class token expanded, heads split off by a view with five sizes."""

    def __init__(self, size=16, heads=2):
        super().__init__()
        self.patches = nn.Conv2d(3, size, 4, 4)
        self.cls = nn.Parameter(torch.zeros(1, 1, size))
        self.places = nn.Parameter(torch.zeros(1, 5, size))
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.norm, self.head, self.heads = nn.LayerNorm(size), nn.Linear(size, 4), heads

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        batch, _, size = x.shape
        x = torch.cat([self.cls.expand(batch, -1, -1), x], 1) + self.places
        q, k, v = self.qkv(self.norm(x)).view(batch, 5, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, 5, size))
        return self.head(x[:, 0])

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 3, 8, 8),)


class Gpt(nn.Module):
    """A mask made for each sample, positions of each sample, and a loss over batch · tokens rows."""

    def __init__(self, size=16, heads=2, words=32, tokens=8):
        super().__init__()
        self.words, self.places = nn.Embedding(words, size), nn.Embedding(tokens, size)
        self.q, self.k, self.v = (nn.Linear(size, size) for _ in range(3))
        self.head, self.heads = nn.Linear(size, words), heads

    def forward(self, ids):
        batch, tokens = ids.shape
        places = torch.arange(tokens).unsqueeze(0).expand(batch, tokens)
        x = self.words(ids) + self.places(places)
        q, k, v = (part(x).view(batch, tokens, self.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        mask = torch.ones(batch, 1, tokens, tokens, dtype=torch.bool).tril()
        weights = (q @ k.transpose(-2, -1)).masked_fill(~mask, float("-inf")).softmax(-1)
        x = (weights @ v).transpose(1, 2).reshape(batch * tokens, -1)
        logits = self.head(x)
        last = logits.view(batch, tokens, -1)[torch.arange(batch), -1]
        return F.cross_entropy(logits, ids.reshape(-1)), last

    @staticmethod
    def inputs(batch):
        return (torch.zeros(batch, 8, dtype=torch.int64),)


class Conv(nn.Module):
    """A norm over batch · channels as one dimension, and a flattened end."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.norm, self.head = nn.BatchNorm2d(4), nn.Linear(4 * 4 * 4, 10)

    def forward(self, x):
        x = self.norm(self.first(x)).relu()
        batch, channels, height, width = x.shape
        y = x.reshape(1, batch * channels, height, width)
        x = F.avg_pool2d(y, 3, 1, 1).view(batch, channels, height, width) + x
        x = F.max_pool2d(self.second(x), 2)
        return self.head(x.view(x.size(0), -1))

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 3, 8, 8),)


class Lstm(nn.Module):
    """First states of [layers, batch, size], with as many layers as samples in one of the files."""

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 8, num_layers=2), nn.Linear(8, 3)

    def forward(self, x):
        x = x.transpose(0, 1)
        state = torch.zeros(2, x.shape[1], 8)
        out, _ = self.lstm(x, (state, torch.zeros_like(state)))
        return self.head(out[-1])

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 5, 6),)


class Einops(nn.Module):
    """'b (h w) c -> (b h) w c' and back, and tokens before samples as nn.MultiheadAttention has them."""

    def __init__(self):
        super().__init__()
        self.mix, self.attention = nn.Linear(8, 8), nn.MultiheadAttention(8, 2)

    def forward(self, x):
        batch = x.shape[0]
        rows = self.mix(x.reshape(batch * 4, 4, 8))
        x = rows.reshape(batch, 4, 4, 8).permute(2, 1, 0, 3).reshape(16, batch, 8)
        y, _ = self.attention(x, x, x, need_weights=False)
        return y.reshape(16 * batch, 8).reshape(4, 4, batch, 8).permute(2, 0, 1, 3).reshape(batch, 16, 8)

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 16, 8),)


class Detector(nn.Module):
    """Two levels, each reshaped to [batch, anchors, classes] and joined."""

    def __init__(self):
        super().__init__()
        self.base, self.down = nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 4, 3, 2, 1)
        self.head = nn.Conv2d(4, 2 * 6, 1)

    def forward(self, x):
        first = self.base(x).relu()
        levels = []
        for level in (first, self.down(first)):
            y = self.head(level)
            batch, _, height, width = y.shape
            y = y.view(batch, 2, 6, height, width).permute(0, 3, 4, 1, 2).reshape(batch, -1, 6)
            grid = torch.arange(height * width).repeat_interleave(2).view(1, -1, 1).repeat(batch, 1, 1)
            levels.append(y + grid)
        return torch.cat(levels, 1).sigmoid()

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 3, 16, 16),)


class Contrastive(nn.Module):
    """Every sample against every other: logits of [2 · batch, 2 · batch], the diagonal masked."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(6, 8)

    def forward(self, x, y):
        batch = x.shape[0]
        z = F.normalize(torch.cat([self.first(x), self.second(y)]), dim=-1)
        logits = (z @ z.t()).masked_fill(torch.eye(2 * batch, dtype=torch.bool), -1e9)
        labels = torch.cat([torch.arange(batch) + batch, torch.arange(batch)])
        return F.cross_entropy(logits, labels)

    @staticmethod
    def inputs(batch):
        return torch.randn(batch, 6), torch.randn(batch, 6)


class Clip(nn.Module):
    """Logits of [batch, batch] and labels of the batch."""

    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(6, 8), nn.Embedding(16, 8)

    def forward(self, image, text):
        a, b = F.normalize(self.image(image), dim=-1), F.normalize(self.text(text).mean(1), dim=-1)
        logits = a @ b.t()
        labels = torch.arange(image.shape[0])
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2

    @staticmethod
    def inputs(batch):
        return torch.randn(batch, 6), torch.zeros(batch, 5, dtype=torch.int64)


class Table(nn.Module):
    """Refused: a buffer with a row for each sample."""

    def __init__(self, batch):
        super().__init__()
        self.words, self.places = nn.Embedding(16, 8), nn.Embedding(8, 8)
        self.register_buffer("place_ids", torch.arange(5).expand(batch, 5).contiguous())

    def forward(self, ids):
        return self.words(ids) + self.places(self.place_ids)

    @staticmethod
    def inputs(batch):
        return (torch.zeros(batch, 5, dtype=torch.int64),)


class OneByOne(nn.Module):
    """Refused: a loop over the samples."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 8)

    def forward(self, x):
        return torch.stack([self.layer(x[i]) for i in range(x.shape[0])])

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 6),)


class Unforced(nn.Module):
    """Refused: a tensor of the batch's size that nothing else has to fit."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 8)

    def forward(self, x):
        return self.layer(x), torch.ones(2, 3).relu()

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 6),)


class Numbers(nn.Module):
    """As a trace keeps it: the batch was a number of Python."""

    def __init__(self, batch):
        super().__init__()
        self.batch, self.mix, self.head = batch, nn.Linear(8, 8), nn.Linear(4 * 8, 3)

    def forward(self, x):
        x = self.mix(x.reshape(self.batch * 4, 8)) + torch.zeros(self.batch * 4, 1)
        return self.head(x.view(self.batch, -1))

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 4, 8),)


class Repeated(nn.Module):
    """Said to be a guess: with a batch of 1, a tensor of [1, 3] is added to both [1, 3] and [batch, 3]."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, x):
        return self.layer(x) + torch.ones(1, 3).cumsum(1)

    @staticmethod
    def inputs(batch):
        return (torch.randn(batch, 6),)


RIGHT = {"mlp": Mlp, "vit": Vit, "gpt": Gpt, "conv": Conv, "lstm": Lstm, "einops": Einops, "detector": Detector,
         "contrastive": Contrastive, "clip": Clip}


def pack_zip(path):
    """No test reads weights or samples: an archive without them is a fifth as large."""
    with zipfile.ZipFile(path) as archive:
        records = {name: archive.read(name) for name in archive.namelist() if "/sample_inputs/" not in name}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in records.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def pack_onnx(path):
    import onnx

    model = onnx.load(path)
    for node in model.graph.node:
        del node.metadata_props[:]
    del model.graph.value_info[:]
    onnx.save(model, path)


def export(model, inputs, path):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    if path.suffix == ".onnx":
        torch.onnx.export(model, inputs, path, dynamo=True, external_data=False, verbose=False, optimize=False)
        pack_onnx(path)
    elif path.suffix == ".pt":
        torch.jit.save(torch.jit.trace(model, inputs, check_trace=False), path)
        pack_zip(path)
    else:
        torch.export.save(torch.export.export(model, inputs), path)
        pack_zip(path)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for batch in (2, 6):
        for name, model in RIGHT.items():
            export(model().train(), model.inputs(batch), folder / f"{name}_b{batch}.pt2")
        for name in ("mlp", "contrastive", "gpt"):
            export(RIGHT[name]().train(), RIGHT[name].inputs(batch), folder / f"{name}_b{batch}.onnx")
        export(Numbers(batch), Numbers.inputs(batch), folder / f"numbers_b{batch}.pt")
    export(Vit().train(), Vit.inputs(1), folder / "vit_b1.pt2")
    export(Repeated(), Repeated.inputs(1), folder / "repeated_b1.pt2")
    export(Table(2), Table.inputs(2), folder / "table_b2.pt2")
    for name, model in {"one_by_one": OneByOne, "unforced": Unforced}.items():
        export(model(), model.inputs(2), folder / f"{name}_b2.pt2")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(pathlib.Path(sys.argv[1]))

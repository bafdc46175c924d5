#!/usr/bin/env python3
"""Makes the ONNX files of this folder that show what the exporters fold, drop and merge, with a .pt2 of the same model:

    make_onnx.py [FOLDER]

bn, bn_eval   Conv, BatchNorm, ReLU, Dropout, Conv; in training and in evaluation mode
two_norms     two batch norms behind one convolution: no metadata tells the first one's parameters
layers        a batch norm behind each kind of product, group norm, layer norms that are equal, attention with dropout, a
              bias of zeros
experts       weights of experts that are picked by index (as in transformers' mixtral), without metadata too
linear_torchscript, linear_torchscript_folded   nn.Linear of the TorchScript-based exporter
nanogpt       was given as a file: weightless, and without the metadata that is dropped here too

Needs requirements-models.txt.
"""
import pathlib
import sys

import onnx
import torch
from torch import nn
from torch.onnx import TrainingMode

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "models"))
import pt2_file

DROPPED_METADATA = ("namespace", "pkg.torch.onnx.stack_trace")


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.conv_norm = nn.BatchNorm2d(8)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2, groups=2)
        self.up_norm = nn.BatchNorm2d(4, affine=False)
        self.groups = nn.GroupNorm(2, 4)
        self.fc = nn.Linear(16, 16)
        self.fc_norm = nn.BatchNorm1d(16)
        self.before = nn.LayerNorm(16)
        self.attention = nn.MultiheadAttention(16, 2, dropout=0.1, batch_first=True)
        self.after = nn.LayerNorm(16)
        self.last = nn.Linear(16, 5)

    def forward(self, x):
        x = torch.relu(self.conv_norm(self.conv(x)))
        x = self.groups(torch.relu(self.up_norm(self.up(x)))).flatten(2)
        n, c, _ = x.shape
        x = torch.relu(self.fc_norm(self.fc(x.reshape(n * c * 4, 16)))).reshape(n, c * 4, 16)
        y = self.before(x)
        x = self.after(x + self.attention(y, y, y, need_weights=False)[0])
        return self.last(x)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(6, 4, bias=False)
        self.up = nn.Parameter(torch.randn(4, 10, 6))
        self.down = nn.Parameter(torch.randn(4, 6, 10))

    def forward(self, x):
        share, expert = self.router(x).softmax(-1).topk(1, dim=-1)
        expert = expert.reshape(-1)
        hidden = torch.relu(torch.bmm(self.up[expert], x.unsqueeze(-1)))
        return torch.bmm(self.down[expert], hidden).squeeze(-1) * share


def conv_and_norm():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.1), nn.Conv2d(8, 8, 3))


def two_norms():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.BatchNorm2d(8))


def without(model, keys):
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if entry.key not in keys]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    return model


def write(folder, name, module, inputs, train=True, exported=True):
    module.train(train)
    if exported:
        pt2_file.write(torch.export.export(module, inputs), folder / f"{name}.pt2", keep_weights=False)
    mode = TrainingMode.TRAINING if train else TrainingMode.EVAL
    made = torch.onnx.export(module, inputs, dynamo=True, verbose=False, training=mode).model_proto
    onnx.save(without(made, DROPPED_METADATA), folder / f"{name}.onnx")
    return made


def write_torchscript(folder, name, module, inputs, folds):
    module.train(not folds)
    mode = TrainingMode.EVAL if folds else TrainingMode.TRAINING
    torch.onnx.export(module, inputs, folder / f"{name}.onnx", dynamo=False, training=mode, do_constant_folding=folds)


def main():
    torch.manual_seed(0)
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    image = (torch.randn(2, 3, 16, 16),)
    write(folder, "bn", conv_and_norm(), image)
    write(folder, "bn_eval", conv_and_norm(), image, train=False, exported=False)
    write(folder, "two_norms", two_norms(), image, exported=False)
    write(folder, "layers", Layers(), (torch.randn(2, 3, 4, 4),))
    made = write(folder, "experts", Experts(), (torch.randn(7, 6),), exported=False)
    without(made, {entry.key for node in made.graph.node for entry in node.metadata_props})
    del made.graph.metadata_props[:]
    onnx.save(made, folder / "experts_bare.onnx")
    linear = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 8))
    for folds in (True, False):
        name = "linear_torchscript" + ("_folded" if folds else "")
        write_torchscript(folder, name, linear, (torch.randn(2, 5, 8),), folds)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Exports a feed-forward layer that four ranks share, its collectives in it, as .pt2 and as .onnx without weights.

Usage: python export_collectives.py

In the .pt2 they are calls of torch.distributed._functional_collectives, as torch.export keeps them; the ranks are a
process group that does nothing. In the .onnx they are ONNX Runtime's own (com.microsoft)."""
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.distributed.fake_pg import FakeStore

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "models")]
import pt2_file  # noqa: E402

RANKS, BATCH, WIDTH, HIDDEN = 4, 8, 64, 256


class Shared(torch.nn.Module):
    """Tokens are gathered, go through a rank's share of the hidden features, and are scattered; then a sum of all ranks."""

    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(WIDTH, HIDDEN // RANKS, bias=False)
        self.down = torch.nn.Linear(HIDDEN // RANKS, WIDTH, bias=False)
        self.head = torch.nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        group = dist.group.WORLD
        whole = functional.all_gather_tensor(x, 0, group)
        part = functional.reduce_scatter_tensor(self.down(F.relu(self.up(whole))), "sum", 0, group)
        return functional.all_reduce(self.head(part), "sum", group)


def write_onnx(path):
    import onnx
    from onnx import TensorProto, helper

    def weight(name, *sizes):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=sizes, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="none")
        return tensor

    info = lambda name, *sizes: helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
    nodes = [
        helper.make_node("AllGather", ["x"], ["whole"], domain="com.microsoft", axis=0, group_size=RANKS),
        helper.make_node("MatMul", ["whole", "up"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["active"]),
        helper.make_node("MatMul", ["active", "down"], ["part"]),
        helper.make_node("AllReduce", ["part"], ["sum"], domain="com.microsoft"),
        helper.make_node("AllToAll", ["sum"], ["y"], domain="com.microsoft", group_size=RANKS),
    ]
    graph = helper.make_graph(nodes, "shared", [info("x", BATCH // RANKS, WIDTH)], [info("y", BATCH, WIDTH)],
                              [weight("up", WIDTH, HIDDEN // RANKS), weight("down", HIDDEN // RANKS, WIDTH)])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def main():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
    with FakeTensorMode():
        program = pt2_file.export(Shared(), (torch.empty(BATCH // RANKS, WIDTH),), "train")
    pt2_file.write(program, HERE / "models" / "collectives.pt2", keep_weights=False)
    write_onnx(HERE / "models" / "collectives.onnx")
    print(program.graph)


if __name__ == "__main__":
    main()

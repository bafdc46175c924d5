"""Whether the Python file that `symprof plan checkpoint --format python` writes does on PyTorch what the plan says.

  python apply_plan.py SYMPROF        needs PyTorch 2.13; ends with 1 where something differs

A chain of four blocks is exported, and planned for three budgets. Held: names of parameters and gradients are unchanged; the products that backward computes again have the plan's FLOPs but for
those of other calls; the peak of storages, in blocks of 512 bytes, is lower by as much as the plan says (expandable segments, so that allocated bytes are those of tensors).
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import weakref

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(512), nn.Linear(512, 2048), nn.Linear(2048, 512)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def build():
    torch.manual_seed(0)
    return nn.Sequential(*(Block() for _ in range(4)))


class Peak(TorchDispatchMode):
    """The most bytes of storages that calls made."""

    def __init__(self):
        super().__init__()
        self.live, self.bytes, self.seen = 0, 0, set()

    def gone(self, key, size):
        self.live -= size
        self.seen.discard(key)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        leaves = torch.utils._pytree.tree_leaves
        given = {t.untyped_storage()._cdata for t in leaves((args, kwargs)) if isinstance(t, torch.Tensor)}
        for tensor in leaves(out):
            storage = tensor.untyped_storage() if isinstance(tensor, torch.Tensor) else None
            if storage is None or storage._cdata in given or storage._cdata in self.seen:
                continue
            size = -(-storage.nbytes() // 512) * 512
            self.seen.add(storage._cdata)
            self.live += size
            self.bytes = max(self.bytes, self.live)
            weakref.finalize(storage, self.gone, storage._cdata, size)
        return out


def step(model, x):
    model.zero_grad()
    with FlopCounterMode(display=False) as flops:
        model(x).sum().backward()
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    with Peak() as peak:
        model(x).sum().backward()
    return flops.get_total_flops(), gradients, peak.bytes


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    x = torch.randn(4096, 512)
    torch.export.save(torch.export.export(build(), (x,)), folder / "chain.pt2")

    def planned(form, *given):
        made = subprocess.run([sys.argv[1], "plan", "checkpoint", folder / "chain.pt2", "--loss", "sum", "--device", "h200", "--alloc-conf",
                               "expandable_segments:True", "--regions", "0,1,2,3", "--format", form, *given], check=True, capture_output=True, text=True)
        return made.stdout

    curve = json.loads(planned("json"))
    low, high = curve["all_again"]["peak_reserved_bytes"], curve["without"]["peak_reserved_bytes"]
    flops, gradients, peak = step(build(), x)
    differ = 0
    for share in (0.2, 0.5, 0.8):
        budget = str(int(low + share * (high - low)) + curve["context_bytes"])
        code, plan = {}, json.loads(planned("json", "--budget", budget))
        exec(planned("python", "--budget", budget), code)
        model = build()
        names = [name for name, _ in model.named_parameters()]
        code["apply_plan"](model)
        again, other, lower = step(model, x)
        said = plan["budgets"][0]
        products = 2 * 4096 * 512 * 2048  # All other calls of a block together are below one of its products.
        checks = {"names": names == [name for name, _ in model.named_parameters()],
                  "gradients": all(map(torch.equal, gradients, other)),
                  "products": again - flops == said["recompute_flops"] // products * products,
                  "peak": peak - lower == plan["without"]["peak_allocated_bytes"] - said["peak_allocated_bytes"]}
        print(share, {key: len(kept) for key, kept in code["PLAN"].items()}, again - flops, peak - lower, checks)
        differ += not all(checks.values())
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()

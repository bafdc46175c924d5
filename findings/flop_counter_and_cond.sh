#!/usr/bin/env bash
# Under FlopCounterMode, torch.cond makes a result without a gradient.
#
# torch 2.13.0. A model whose forward pass calls torch.cond in eager mode trains: the result requires a gradient, and the
# parameters that the branches use get one. Inside of torch.utils.flop_counter.FlopCounterMode the same step ends without an
# error, but the result of torch.cond requires no gradient, the parameters of the branch have none after backward, and the
# counted FLOPs lack the branch's backward pass and that of everything in front of it. Whoever counts FLOPs around a real
# training step trains another model in that step than in all others.
#
# Seen:
#   plain: the result requires a gradient True, the branch's weight has one True
#   counted: the result requires a gradient False, the branch's weight has one False
#
# Fails if this changes. TORCH names another package than PyPI's (a wheel of the CPU build, say).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/environment"
"$folder/environment/bin/pip" install -q "${TORCH:-torch==2.13.0}"
cat > "$folder/step.py" <<'PYTHON'
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

a, b, out = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 8)


def step(name):
    x = torch.rand(32, 64)
    y = torch.cond(x.sum() > 0, lambda t: a(t).relu(), lambda t: b(t).relu(), (x,))
    out(y).square().mean().backward()
    print(f"{name}: the result requires a gradient {y.requires_grad}, the branch's weight has one {a.weight.grad is not None}")
    a.weight.grad = None


step("plain")
with FlopCounterMode(display=False):
    step("counted")
PYTHON
"$folder/environment/bin/python" "$folder/step.py" | tee "$folder/seen"
diff "$folder/seen" - <<'SEEN'
plain: the result requires a gradient True, the branch's weight has one True
counted: the result requires a gradient False, the branch's weight has one False
SEEN

#!/usr/bin/env bash
# FlopCounterMode counts products that accumulate in place as 0 FLOPs.
#
# torch 2.13.0. torch.addmm(c, a, b) and its variant with out= count 2·m·n·k under torch.utils.flop_counter.FlopCounterMode.
# The same product as c.addmm_(a, b), and c.baddbmm_(a, b), is not in the table of formulas and counts 0, without a warning.
# Chunked losses, fused optimizers and gradient accumulation written by hand use these: their backward pass looks cheaper by
# a product for each matrix, and a change from `c + a @ b` to `c.addmm_(a, b)` looks like a saving of all its FLOPs.
#
# Seen:
#   addmm 1024, with out= 1024, addmm_ 0
#   baddbmm 3072, baddbmm_ 0
#
# Fails if this changes. TORCH names another package than PyPI's (a wheel of the CPU build, say).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/environment"
"$folder/environment/bin/pip" install -q "${TORCH:-torch==2.13.0}"
cat > "$folder/count.py" <<'PYTHON'
import torch
from torch.utils.flop_counter import FlopCounterMode


def flops(product):
    with FlopCounterMode(display=False) as counter:
        product()
    return counter.get_total_flops()


a, b, c = torch.randn(4, 8), torch.randn(8, 16), torch.zeros(4, 16)
print(f"addmm {flops(lambda: torch.addmm(c, a, b))}, with out= {flops(lambda: torch.addmm(c, a, b, out=c))}, addmm_ {flops(lambda: c.addmm_(a, b))}")
a, b, c = torch.randn(3, 4, 8), torch.randn(3, 8, 16), torch.zeros(3, 4, 16)
print(f"baddbmm {flops(lambda: torch.baddbmm(c, a, b))}, baddbmm_ {flops(lambda: c.baddbmm_(a, b))}")
PYTHON
"$folder/environment/bin/python" "$folder/count.py" 2>/dev/null | tee "$folder/seen"
diff "$folder/seen" - <<'SEEN'
addmm 1024, with out= 1024, addmm_ 0
baddbmm 3072, baddbmm_ 0
SEEN

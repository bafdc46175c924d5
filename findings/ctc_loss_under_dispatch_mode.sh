#!/usr/bin/env bash
# Under any TorchDispatchMode, CTC loss saves other tensors for backward.
#
# torch 2.13.0. F.ctc_loss with its lengths in tensors reads them into lists of integers, and autograd keeps five tensors.
# While a TorchDispatchMode is active, one that changes nothing, too (FlopCounterMode and CommDebugMode are such modes), it
# takes the path for tensor subclasses: both lengths are kept as tensors, and the mean divides by int64 lengths where it
# divided by float32 ones. So a tool that measures what a step keeps for backward by such a mode, or beside one, measures
# another step.
#
# Seen:
#   plain: 5 tensors, 43616 bytes
#   under a mode that does nothing: 7 tensors, 43696 bytes
#
# Fails if this changes. TORCH names another package than PyPI's (a wheel of the CPU build, say).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/environment"
"$folder/environment/bin/pip" install -q "${TORCH:-torch==2.13.0}"
cat > "$folder/loss.py" <<'PYTHON'
import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Nothing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def report(name):
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.untyped_storage().nbytes()) or x, lambda x: x):
        torch.nn.functional.ctc_loss(logs, words, torch.full((4,), 50), torch.tensor([12, 8, 5, 10]))
    print(f"{name}: {len(kept)} tensors, {sum(kept)} bytes")


logs, words = torch.randn(50, 4, 29).log_softmax(-1).requires_grad_(), torch.randint(1, 29, (4, 12))
report("plain")
with Nothing():
    report("under a mode that does nothing")
PYTHON
"$folder/environment/bin/python" "$folder/loss.py" 2>/dev/null | tee "$folder/seen"
diff "$folder/seen" - <<'SEEN'
plain: 5 tensors, 43616 bytes
under a mode that does nothing: 7 tensors, 43696 bytes
SEEN

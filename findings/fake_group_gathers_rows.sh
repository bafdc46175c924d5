#!/usr/bin/env bash
# PyTorch's fake process group refuses an all-gather of rows that NCCL takes.
#
# torch 2.13.0. all_gather_single fills the memory of one output with the inputs of all ranks: of n elements and w ranks, w * n.
# SyncBatchNorm gathers a (1, n) input into a (1, w * n) output this way. The fake group (backend "fake", which simulates many
# ranks in one process) cuts the output into w parts along dimension 0, finds one part, and copies the input into it: shapes do
# not match, and SyncBatchNorm cannot run under it, though no shape is wrong. A (w, n) output works.
#
# Seen:
#   (4, 3): gathered
#   (1, 12): RuntimeError: The size of tensor a (12) must match the size of tensor b (3) at non-singleton dimension 1
#
# Fails if this changes. TORCH names another package than PyPI's (a wheel of the CPU build, say).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/environment"
"$folder/environment/bin/pip" install -q "${TORCH:-torch==2.13.0}"
cat > "$folder/gather.py" <<'PYTHON'
import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
for shape in ((4, 3), (1, 12)):
    try:
        dist.all_gather_single(torch.empty(shape), torch.ones(1, 3))
        print(f"{shape}: gathered")
    except RuntimeError as error:
        print(f"{shape}: RuntimeError: {str(error).splitlines()[0]}")
PYTHON
"$folder/environment/bin/python" "$folder/gather.py" 2> /dev/null | tee "$folder/seen"
diff "$folder/seen" - <<'SEEN'
(4, 3): gathered
(1, 12): RuntimeError: The size of tensor a (12) must match the size of tensor b (3) at non-singleton dimension 1
SEEN

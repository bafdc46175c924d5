"""/work/main/truth/measured/plans/gpt2_medium-autocast.pt2 fits into 12.21 GiB with this plan, for 5.01 % more time.

11.12 GiB allocated, 11.36 GiB reserved, step of 52.98 ms (2.53 ms or 5.01 % more)

Call apply_plan(model) once, before fully_shard and before the first step.
"""
import collections

from torch.distributed._composable import checkpoint
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

# The plan holds with PyTorch's allocator held to 12301474201 bytes:
#     torch.cuda.set_per_process_memory_fraction(0.081950)
# What backward runs again, and which calls of it keep their outputs.
PLAN = {
    "network.transformer.h.0": {("aten::_scaled_dot_product_flash_attention", 0), ("aten::_to_copy", 2), ("aten::_to_copy", 4), ("aten::_to_copy", 7), ("aten::_to_copy", 11), ("aten::addmm", 0), ("aten::addmm", 2), ("aten::addmm", 3)},
    "network.transformer.h.1": {("aten::_scaled_dot_product_flash_attention", 0), ("aten::_to_copy", 2), ("aten::_to_copy", 4), ("aten::_to_copy", 7), ("aten::_to_copy", 11), ("aten::addmm", 0), ("aten::addmm", 2), ("aten::addmm", 3)},
    "network.transformer.h.2": {("aten::_scaled_dot_product_flash_attention", 0), ("aten::_to_copy", 2), ("aten::_to_copy", 4), ("aten::_to_copy", 7), ("aten::_to_copy", 11), ("aten::addmm", 0), ("aten::addmm", 2), ("aten::addmm", 3)},
    "network.transformer.h.3": {("aten::_scaled_dot_product_flash_attention", 0), ("aten::_to_copy", 0), ("aten::_to_copy", 2), ("aten::_to_copy", 3), ("aten::_to_copy", 4), ("aten::_to_copy", 7), ("aten::_to_copy", 11), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0), ("aten::native_layer_norm", 1)},
    "network.transformer.h.4": {("aten::_scaled_dot_product_flash_attention", 0), ("aten::_to_copy", 0), ("aten::_to_copy", 2), ("aten::_to_copy", 3), ("aten::_to_copy", 4), ("aten::_to_copy", 5), ("aten::_to_copy", 7), ("aten::_to_copy", 9), ("aten::_to_copy", 11), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0)},
    "network.transformer.h.21": {("aten::_scaled_dot_product_flash_attention", 0), ("aten::_to_copy", 2), ("aten::_to_copy", 4), ("aten::_to_copy", 7), ("aten::_to_copy", 11), ("aten::addmm", 0), ("aten::addmm", 2), ("aten::addmm", 3)},
    "network.transformer.h.22": {("aten::_scaled_dot_product_flash_attention", 0), ("aten::_to_copy", 2), ("aten::_to_copy", 4), ("aten::_to_copy", 7), ("aten::_to_copy", 11), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3)},
}


def contexts(kept):
    def make():
        count = collections.Counter()

        def policy(ctx, op, *args, **kwargs):
            name = op._schema.name
            index = count[name]
            count[name] += 1
            return CheckpointPolicy.MUST_SAVE if (name, index) in kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    return make


def apply_plan(model):
    for name, kept in PLAN.items():
        checkpoint(model.get_submodule(name), **({"context_fn": contexts(kept)} if kept else {}))

"""/work/main/truth/measured/plans/gpt2_small-fp32.pt2 fits into 8.65 GiB with this plan, for 2.54 % more time.

7.59 GiB allocated, 7.81 GiB reserved, step of 115.51 ms (2.86 ms or 2.54 % more)

Call apply_plan(model) once, before fully_shard and before the first step.
"""
import collections

from torch.distributed._composable import checkpoint
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

# What backward runs again, and which calls of it keep their outputs.
PLAN = {
    "network.transformer.h.0": {("aten::_scaled_dot_product_efficient_attention", 0), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0), ("aten::native_layer_norm", 1)},
    "network.transformer.h.1": {("aten::_scaled_dot_product_efficient_attention", 0), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0), ("aten::native_layer_norm", 1)},
    "network.transformer.h.2": {("aten::_scaled_dot_product_efficient_attention", 0), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0), ("aten::native_layer_norm", 1)},
    "network.transformer.h.3": {("aten::_scaled_dot_product_efficient_attention", 0), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0), ("aten::native_layer_norm", 1)},
    "network.transformer.h.4": {("aten::_scaled_dot_product_efficient_attention", 0), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0), ("aten::native_layer_norm", 1)},
    "network.transformer.h.5": {("aten::_scaled_dot_product_efficient_attention", 0), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0), ("aten::native_layer_norm", 1)},
    "network.transformer.h.7": {("aten::_scaled_dot_product_efficient_attention", 0), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0), ("aten::native_layer_norm", 1)},
    "network.transformer.h.11": {("aten::_scaled_dot_product_efficient_attention", 0), ("aten::addmm", 0), ("aten::addmm", 1), ("aten::addmm", 2), ("aten::addmm", 3), ("aten::native_layer_norm", 0), ("aten::native_layer_norm", 1)},
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

// Attention masks that a model of transformers does not make, but for being exported, taken out.
#pragma once

#include <functional>

#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// Takes those masks out of an export that lines of transformers made of sizes alone, and that hide
/// nothing, or only what is to come. transformers leaves such a mask out, and attention goes
/// without or is causal by its argument; code that adds its mask to the scores itself goes without
/// one that hides nothing; not while the model is exported
/// (transformers/masking_utils.py: `_ignore_causal_mask_sdpa`, `_ignore_bidirectional_mask_sdpa`).
/// Without a mask it does not repeat keys and values for groups of queries, either
/// (transformers/integrations/sdpa_attention.py: `use_gqa_in_sdpa`). A warning says for how many
/// calls.
///
/// What a mask hides is read from the nodes that make it: a mask that is more (windows, padding,
/// what a model adds) stays. The inputs of `graph` have to be bound. `specs_of` is asked only where
/// there is such a mask.
void leave_out_masks(Graph& graph, const std::function<ValueSpecs(const Graph&)>& specs_of);

}  // namespace symprof::trace

// Other ways to run the same step in less memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/trial.h"

namespace symprof::plan {

/// Single changes to settings that the run has not set, from those that cost nothing (the
/// allocator, another kernel) to those that cost time (recomputation, copies to the host). They can
/// be combined.
std::vector<Change> possible_changes(const Graph& graph, const Situation& situation);

/// Changes of the training itself: an optimizer without per-parameter state, the whole model in
/// half precision. They are not combined.
std::vector<Change> other_recipes(const Situation& situation);

/// `size` for the dimension `name`, with `micro_batches` gradient-accumulation passes per update.
Change smaller_batch(const std::string& name, std::int64_t size, int micro_batches);

}  // namespace symprof::plan

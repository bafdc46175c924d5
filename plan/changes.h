// Other ways to run the same step that take less memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/trial.h"

namespace symprof::plan {

/// What the run leaves open, each alone, from what costs nothing (the allocator, another kernel) to
/// what costs time (computing again, copies to the host). They go together.
std::vector<Change> possible_changes(const Graph& graph, const Situation& situation);

/// What trains in another way: an optimizer without a state for each parameter, the whole model in
/// half precision. Each stands alone.
std::vector<Change> other_recipes(const Situation& situation);

/// `size` of the dimension `name`, in so many passes before each update.
Change smaller_batch(const std::string& name, std::int64_t size, int micro_batches);

}  // namespace symprof::plan

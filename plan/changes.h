// Other ways to run the same step that take less memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/trial.h"

namespace symprof::plan {

/// Changes that the run leaves open, one each, from those that cost nothing (the allocator, another
/// kernel) to those that cost time (computing again, copies to the host). They can be combined.
std::vector<Change> possible_changes(const Graph& graph, const Situation& situation);

/// Changes that train in another way: an optimizer without a state for each parameter, the whole
/// model in half precision. They are not combined.
std::vector<Change> other_recipes(const Situation& situation);

/// `size` of the dimension `name`, in so many passes before each update.
Change smaller_batch(const std::string& name, std::int64_t size, int micro_batches);

}  // namespace symprof::plan

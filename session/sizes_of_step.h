// The sizes of a step where the file leaves them open, and their origin.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "trace/graph/graph.h"

namespace symprof {

/// The symbols of the inputs' dimensions in `bound`, the graph of `file` with its inputs bound.
/// `given` are the sizes from the settings. A symbol that "batch" or "seq" refers to has that name.
std::vector<NamedSize> sizes_of_step(
    const Graph& file, const Graph& bound,
    const std::vector<std::pair<std::string, std::int64_t>>& given);

}  // namespace symprof

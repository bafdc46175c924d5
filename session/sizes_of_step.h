// Which sizes a step has where the file leaves them open, and who chose them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "trace/graph/graph.h"

namespace symprof {

/// The symbols of the inputs' dimensions in `bound`, which is the graph of `file` with its inputs
/// bound. `given` are the sizes that settings give. A symbol that "batch" or "seq" means is called
/// so.
std::vector<NamedSize> sizes_of_step(
    const Graph& file, const Graph& bound,
    const std::vector<std::pair<std::string, std::int64_t>>& given);

}  // namespace symprof

// Which ATen operators work on a rank's share of their inputs, and which dimension of their outputs
// is shared then: DTensor's rules (torch/distributed/tensor/_ops), by family.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// By value: the dimension of which a rank has an equal part.
using SharedDimensions = std::map<ValueId, std::int64_t>;

/// The dimension of `node`'s outputs that is shared, where those of its inputs in `shared` are.
/// Sizes among its arguments become the rank's. Empty where the operator has no rule for that: its
/// inputs have to be whole. `specs` are those of whole tensors.
std::optional<std::int64_t> shared_output(Node& node, const ValueSpecs& specs,
                                          const SharedDimensions& shared, std::int64_t ranks);

}  // namespace symprof::trace

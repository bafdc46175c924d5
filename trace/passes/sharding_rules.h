// ATen operators that work on a rank's shard of their inputs, and the sharded dimension of their
// outputs: DTensor's rules (torch/distributed/tensor/_ops), by family.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// By value: the dimension that is sharded evenly.
using SharedDimensions = std::map<ValueId, std::int64_t>;

/// The sharded dimension of `node`'s outputs if its inputs are sharded as in `shared`. Sizes among
/// its arguments become the rank's. Empty if the operator has no rule for that: its inputs have to
/// be whole. `specs` are those of whole tensors.
std::optional<std::int64_t> shared_output(Node& node, const ValueSpecs& specs,
                                          const SharedDimensions& shared, std::int64_t ranks);

}  // namespace symprof::trace

// Tensor and sequence parallelism of one rank, in a graph that was made without it: as
// torch.distributed.tensor.parallel.parallelize_module does to the linear layers of blocks.
#pragma once

#include <set>
#include <string_view>

#include "record/parallel_options.h"
#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// Prefix of the operators that the pass adds (shape/interpreter/tensor_parallel.h).
inline constexpr std::string_view tensor_parallel_prefix = "tensor_parallel::";

/// Keeps the first rank's shard of each linear layer of a repeated block that can be split:
/// column-wise if it reads a whole tensor, row-wise if it reads a column-wise layer's result. Nodes
/// in between work on their shard (sharding_rules.h). With `sequence`, tokens are sharded between
/// those layers, and the embedding and the head by their vocabulary. Layers that stay whole are
/// named in a warning. `specs` are those of `graph`, whose inputs are bound. Throws Error if
/// nothing can be split.
void split_tensors(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs);

/// The parameters that split_tensors has made DTensors.
std::set<ValueId> distributed_parameters(const Graph& graph);

}  // namespace symprof::trace

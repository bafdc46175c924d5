// Tensor and sequence parallelism of one rank, in a graph that was made without it: what
// torch.distributed.tensor.parallel.parallelize_module does to the linear layers of blocks.
#pragma once

#include <set>
#include <string_view>

#include "record/parallel_options.h"
#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// Begins the names of the operators that the pass adds (shape/interpreter/tensor_parallel.h).
inline constexpr std::string_view tensor_parallel_prefix = "tensor_parallel::";

/// Gives the graph the first rank's share of each linear layer of a repeated block that can be
/// split: by columns where it reads what is whole, by rows where it reads what a column layer made.
/// What lies between works on its share (sharding_rules.h). With `sequence` tokens are split
/// between those layers, and the embedding and the head by their vocabulary. What stays whole is a
/// warning. `specs` are those of `graph`, whose inputs are bound. Throws Error where nothing can
/// be split.
void split_tensors(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs);

/// Parameters that are DTensors in a graph that split_tensors has changed.
std::set<ValueId> distributed_parameters(const Graph& graph);

}  // namespace symprof::trace

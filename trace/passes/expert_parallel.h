// Expert parallelism of one rank, in a graph that was made without it. PyTorch has no engine for
// it; this follows torchtitan's ExpertParallel (torchtitan/distributed/expert_parallel.py) and the
// file that `plan parallel` writes: all_to_all sends rows of tokens to the ranks of their experts,
// and back.
#pragma once

#include <set>
#include <string_view>

#include "record/parallel_options.h"
#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// Prefix of the operators that the pass adds (shape/interpreter/expert_parallel.h): dispatch,
/// combine, and average, each of which reads a parameter.
inline constexpr std::string_view expert_parallel_prefix = "expert_parallel::";
inline constexpr std::string_view averages_gradient = "expert_parallel::average";

/// Keeps the first of `options.expert` ranks' share of the experts. Assumes that rows are spread
/// evenly over the experts, with a warning. `specs` are those of `graph`. Throws Error if
/// find_experts recognizes no experts, or the ranks do not divide them.
void split_experts(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs);

/// The parameters that split_experts has sharded.
std::set<ValueId> expert_parameters(const Graph& graph);

}  // namespace symprof::trace

// Expert parallelism of one rank, in a graph that was made without it. PyTorch has no engine for
// it; this is what torchtitan's ExpertParallel does (torchtitan/distributed/expert_parallel.py),
// and the file that `plan parallel` writes: rows of tokens go to the ranks that have their experts,
// and come back, by all_to_all.
#pragma once

#include <set>
#include <string_view>

#include "record/parallel_options.h"
#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// Begins the names of the operators that the pass adds (shape/interpreter/expert_parallel.h):
/// dispatch, combine, and average, of which each reads a parameter.
inline constexpr std::string_view expert_parallel_prefix = "expert_parallel::";
inline constexpr std::string_view averages_gradient = "expert_parallel::average";

/// Gives the graph the first of `options.expert` ranks' share of the experts. Rows are taken to be
/// spread evenly over the experts, and a warning says so. `specs` are those of `graph`. Throws
/// Error where there are no experts that find_experts recognises, or the ranks do not divide them.
void split_experts(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs);

/// Parameters of which a rank has a part in a graph that split_experts has changed.
std::set<ValueId> expert_parameters(const Graph& graph);

}  // namespace symprof::trace

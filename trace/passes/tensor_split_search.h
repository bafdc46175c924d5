// The decision which nodes tensor parallelism splits, and how, before the graph changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "record/parallel_options.h"
#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"
#include "trace/passes/sharding_rules.h"

namespace symprof::trace {

/// How tensor parallelism splits a node.
enum class LinearSplit : std::uint8_t {
  column,     ///< Of a block: a share of the outputs.
  row,        ///< Of a block: a share of the inputs.
  embedding,  ///< A share of the words.
  head,       ///< A share of the words, which are gathered.
  loss_head,  ///< A share of the words, which the loss takes as they are.
  loss,       ///< The cross entropy of such a share.
};

/// The splits of one attempt.
struct SplitPlan {
  std::map<std::size_t, LinearSplit> layers;  ///< By node.
  std::map<std::size_t, Node> shared_nodes;   ///< Nodes that work on a shard, rewritten.
  std::set<std::size_t> joined;               ///< Nodes that need tokens whole.
  std::set<ValueId> tokens;                   ///< Values of which a rank has tokens.
  SharedDimensions shared;
};

/// Of [batch, tokens, features].
inline constexpr std::int64_t token_dimension = 1;

struct SplitDecision {
  SplitPlan plan;
  std::vector<std::size_t> whole_layers;  ///< Linear layers of blocks that stay whole.
};

/// Repeats until no layer is rejected: one is if a reader of its shard does not work on shards.
/// `specs` are those of `graph`.
SplitDecision decide_split(const Graph& graph, const ParallelOptions& options,
                           const ValueSpecs& specs);

/// Writes the plan into the graph: shares of parameters, collectives, nodes that work on a share.
void write_split(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs,
                 const SplitPlan& plan);

}  // namespace symprof::trace

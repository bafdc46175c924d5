// Placements inside the repeated blocks of a model, found for one block of each kind
// (placement_search.h) with the sharding rules of its operators (trace/passes/sharding_rules.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/parallel/placement_search.h"
#include "profile/time/collectives/nccl.h"
#include "record/recording.h"
#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::plan {

/// The question about the blocks of a model.
struct BlockQuestion {
  const Recording& recording;
  const Graph& graph;
  const trace::ValueSpecs& specs;  ///< The specs of `graph`'s values, as recorded.
  /// By node of `graph`: true if it is in a block.
  const std::vector<bool>& is_in_block;
  int ranks = 1;
  bool sequence = false;  ///< Between blocks a rank has its share of tokens, else all.
  double samples = 1;     ///< As a multiple of the recorded samples.
  /// Time of a node's forward and backward on that share of it.
  std::function<double(NodeId, double share, NodeSplit)> node_us;
  std::function<double(profile::CollectiveKind, double bytes)> collective_us;
};

struct NodePlacement {
  NodeId node = none;
  Placement output = whole;
  NodeSplit split = NodeSplit::whole;
};

struct BlockPlacements {
  std::vector<NodePlacement> nodes;  ///< Of the requested block.
  double us = 0;                     ///< Of one block: the optimum.
  /// With the layers that `rule` splits, each reducing its own gradients; empty: infeasible.
  std::optional<double> rule_us;
};

/// `nodes` are those of one block, in order; `rule` splits all nodes by columns and rows. Empty
/// where the styles of parallelize_module cannot express any choice.
std::optional<BlockPlacements> block_placements(const BlockQuestion& question,
                                                const std::vector<NodeId>& nodes,
                                                const std::vector<NodeSplit>& rule);

/// "shard(1)", "replicate", "partial".
std::string text_of(Placement placement);

}  // namespace symprof::plan

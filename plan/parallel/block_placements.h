// The placements inside the repeated blocks of a model, found for one block of each kind
// (placement_search.h) with the sharding rules of its operators (trace/passes/sharding_rules.h).
//
// Public header.
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

/// What is asked about the blocks of a model.
struct BlockQuestion {
  const Recording& recording;
  const Graph& graph;
  const trace::ValueSpecs& specs;  ///< Of `graph`, as it was recorded.
  /// By node of `graph`: whether it is in a block.
  const std::vector<bool>& is_in_block;
  int ranks = 1;
  bool sequence = false;  ///< Between blocks a rank has its tokens, else all.
  double samples = 1;     ///< By those of the recording.
  /// Forward and backward of a node, with that share of it.
  std::function<double(NodeId, double share, NodeSplit)> node_us;
  std::function<double(profile::CollectiveKind, double bytes)> collective_us;
};

struct NodePlacement {
  NodeId node = none;
  Placement output = whole;
  NodeSplit split = NodeSplit::whole;
};

struct BlockPlacements {
  std::vector<NodePlacement> nodes;  ///< Of the block that was asked for.
  double us = 0;                     ///< Of one block; the least that there is.
  /// With the layers that `rule` splits, each summing its own gradients; empty: not possible.
  std::optional<double> rule_us;
};

/// `nodes` are those of one block, in order, `rule` the split by columns and rows of all nodes.
/// Empty where the styles of parallelize_module cannot carry any choice out.
std::optional<BlockPlacements> block_placements(const BlockQuestion& question,
                                                const std::vector<NodeId>& nodes,
                                                const std::vector<NodeSplit>& rule);

/// "shard(1)", "replicate", "partial".
std::string text_of(Placement placement);

}  // namespace symprof::plan

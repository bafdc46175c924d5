// The placements of one block's values on the ranks of a tensor-parallel group: one option for each
// node, minimizing the time of computation and redistribution. An integer program (one-hot
// variables of options, and of pairs that meet at a value), solved exactly by dynamic programming
// over the values that are alive between two nodes, so its optimum is also the lower bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/parallel/tensor_split.h"

namespace symprof::plan {

/// DTensor's placements on a one-dimensional mesh: values from 0 on are the sharded dimension.
using Placement = std::int8_t;
inline constexpr Placement whole = -1;
/// Each rank has a partial sum.
inline constexpr Placement partial = -2;
/// A replicated input whose gradient is a partial sum on each rank, as that of a column-parallel
/// linear layer.
inline constexpr Placement whole_for_columns = -3;

struct PlacementOption {
  std::vector<Placement> inputs;  ///< By input of the node.
  Placement output = whole;
  double us = 0;  ///< Forward and backward of the node, with its own collectives.
  NodeSplit split = NodeSplit::whole;
};

struct PlacementNode {
  NodeId node = none;
  std::vector<std::size_t> inputs, outputs;  ///< Values of the problem.
  std::vector<PlacementOption> options;
};

struct PlacementProblem {
  std::size_t values = 0;
  std::vector<std::size_t> given;  ///< Values from outside the block.
  std::vector<std::size_t> taken;  ///< Values that later blocks read.
  Placement around = whole;        ///< The placement of both.
  std::vector<PlacementNode> nodes;
  /// Forward and backward time of redistributing `from` to `to`; infinity where unsupported.
  std::function<double(std::size_t value, Placement from, Placement to)> redistribution_us;
  /// True: an input common to several nodes is redistributed once for all of them; else each column
  /// layer reduces the gradient of a replicated input separately.
  bool joins = true;
};

struct PlacementAnswer {
  std::vector<std::size_t> options;  ///< By node of the problem.
  double us = 0;                     ///< The optimum, and so also the lower bound.
};

/// Empty if no choice is feasible, or if too many values are alive at once for the search.
std::optional<PlacementAnswer> least_placements(const PlacementProblem& problem);

}  // namespace symprof::plan

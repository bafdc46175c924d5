// Where the values of one block lie on the ranks of a tensor-parallel group: one option for each
// node, so that the block's computation and what is redistributed between its nodes take least
// time. An integer programme (one-hot variables of options, and of pairs that meet at a value),
// solved exactly by dynamic programming over the values that are alive between two nodes: its
// optimum is its own bound.
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/parallel/tensor_split.h"

namespace symprof::plan {

/// DTensor's placements on a mesh of one dimension: from 0 on, the dimension that is shared.
using Placement = std::int8_t;
inline constexpr Placement whole = -1;
/// Each rank has a part of a sum.
inline constexpr Placement partial = -2;
/// Of what a node reads: whole, and its gradient is a part of a sum, as that of a column layer is.
inline constexpr Placement whole_for_columns = -3;

struct PlacementOption {
  std::vector<Placement> inputs;  ///< Of the node's inputs, in their order.
  Placement output = whole;
  double us = 0;  ///< Forward and backward of the node, its own collectives included.
  NodeSplit split = NodeSplit::whole;
};

struct PlacementNode {
  NodeId node = none;
  std::vector<std::size_t> inputs, outputs;  ///< Values of the problem.
  std::vector<PlacementOption> options;
};

struct PlacementProblem {
  std::size_t values = 0;
  std::vector<std::size_t> given;  ///< Values that come from outside of the block.
  std::vector<std::size_t> taken;  ///< Those that later blocks read.
  Placement around = whole;        ///< Of both.
  std::vector<PlacementNode> nodes;
  /// Forward and backward of making `to` out of `from`; infinity where that is not carried out.
  std::function<double(std::size_t value, Placement from, Placement to)> redistribution_us;
  /// What several nodes read alike is redistributed once for all of them; else each column layer
  /// sums the gradient of a whole input on its own.
  bool joins = true;
};

struct PlacementAnswer {
  std::vector<std::size_t> options;  ///< By node of the problem.
  double us = 0;                     ///< Least, so it is the bound, too.
};

/// Empty where no choice is possible, or where more values are alive at once than the search takes.
std::optional<PlacementAnswer> least_placements(const PlacementProblem& problem);

}  // namespace symprof::plan

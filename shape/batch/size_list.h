// The numbers of a node that may be sizes: where they are, and what they are with both batches.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "shape/batch/extents.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// How an operator takes its sizes.
enum class SizeUse : std::uint8_t {
  view,          ///< All elements of the operand in other dimensions.
  expand,        ///< Dimensions of 1 become larger.
  repeat,        ///< Dimensions become as many times as large.
  interleave,    ///< The same, each element beside its copies.
  create,        ///< A new tensor.
  like_operand,  ///< Sizes of the operand, given once more.
  slice,         ///< A part of a dimension: start and end, or start and length.
  select,        ///< One element of a dimension.
  split,         ///< A dimension in parts.
  unbind,        ///< Every element of a dimension.
  strides,       ///< Positions in memory.
};

/// An operator that takes sizes.
struct SizedOperator {
  std::string_view op;
  SizeUse use;
  /// The arguments that are sizes; empty where the operator has none.
  std::string_view first = {}, second = {};
  std::size_t position = 0;  ///< Of the first, among arguments without names.
};

/// Null for an operator whose sizes follow those of its operands.
const SizedOperator* find_sized(const Node& node);

/// Both values of what an argument names.
struct BothNumbers {
  Numbers file, tried;
  TensorSpec tensor;  ///< Of the tensor that holds them.
};
using NumbersOf = std::function<std::optional<BothNumbers>(ValueId)>;

/// The numbers of the arguments that are sizes, one after the other.
struct SizeList {
  struct Slot {
    std::size_t argument = 0;
    std::size_t element = 0;
    bool is_fixed = true;  ///< A number of the file; else a value that nodes have made.
  };

  std::vector<Slot> slots;
  Numbers file, tried;               ///< What they are while nothing is changed.
  std::optional<TensorSpec> tensor;  ///< Of a tensor that holds them.

  bool empty() const { return slots.empty(); }
  /// Whether a choice may put another number there.
  bool is_open(std::size_t index) const {
    return slots[index].is_fixed && file[index] == tried[index];
  }
};

SizeList read_sizes(const Node& node, const SizedOperator& sized, const NumbersOf& numbers);

/// What gives `sizes`, chosen for `list`, in place of its numbers, for each argument that changes.
std::vector<trace::BatchedArgument> changes_of(const SizeList& list, const Numbers& sizes,
                                               std::size_t node, const Batches& batches);

/// Gives `node` the chosen numbers, but for those that a tensor holds.
void put_sizes(Node& node, const SizeList& list, const Numbers& sizes);

}  // namespace symprof::shape

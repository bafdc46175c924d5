// The numbers of a node that may be sizes: their positions, and their values with both batches.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "shape/batch/extents.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// How an operator uses its size arguments.
enum class SizeUse : std::uint8_t {
  view,          ///< All elements of the operand in other dimensions (view, reshape).
  expand,        ///< Dimensions of 1 become larger.
  repeat,        ///< Dimensions are multiplied.
  interleave,    ///< As repeat, with the copies of an element adjacent.
  create,        ///< A new tensor.
  like_operand,  ///< Repeats the operand's sizes.
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
  /// Names of the size arguments; empty if the operator has none.
  std::string_view first = {}, second = {};
  std::size_t position = 0;  ///< Of the first size argument, for arguments without names.
};

/// Null for an operator whose result sizes are determined by its operands.
const SizedOperator* find_sized(const Node& node);

/// The numbers of a value with the file's batch and with the other one.
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
    bool is_fixed = true;  ///< A literal of the file; false for a computed value.
  };

  std::vector<Slot> slots;
  Numbers file, tried;               ///< The unchanged numbers.
  std::optional<TensorSpec> tensor;  ///< Set if one tensor holds the numbers.

  bool empty() const { return slots.empty(); }
  /// True if a choice may replace the number.
  bool is_open(std::size_t index) const {
    return slots[index].is_fixed && file[index] == tried[index];
  }
};

SizeList read_sizes(const Node& node, const SizedOperator& sized, const NumbersOf& numbers);

/// The changed arguments that replace the numbers of `list` by `sizes`.
std::vector<trace::BatchedArgument> changes_of(const SizeList& list, const Numbers& sizes,
                                               std::size_t node, const Batches& batches);

/// Writes the chosen numbers into `node`, except numbers held by a tensor.
void put_sizes(Node& node, const SizeList& list, const Numbers& sizes);

}  // namespace symprof::shape

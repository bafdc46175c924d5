// Producers and consumers of a graph's values, and access to node arguments.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// No position: find an argument by name only.
constexpr std::size_t any_position = std::numeric_limits<std::size_t>::max();

/// The argument with that name, if the front end sets names; else the positional argument at
/// `position`, in schema order. Null if none.
const Argument* find_argument(const Node& node, std::string_view name,
                              std::size_t position = any_position);
Argument* find_argument(Node& node, std::string_view name, std::size_t position = any_position);

/// The argument's value as T; null without an argument, or if it has another type.
template <class T>
const T* argument_as(const Argument* argument) {
  return argument == nullptr ? nullptr : std::get_if<T>(&argument->value);
}

/// Argument `index` of `node` as T, regardless of its name; null if none.
template <class T>
const T* argument_at(const Node& node, std::size_t index) {
  return argument_as<T>(index < node.arguments.size() ? &node.arguments[index] : nullptr);
}

/// The graph value of an argument; no_value without an argument, or if it has none or several
/// values.
ValueId value_of(const Argument* argument);

/// The graph value of argument `index` of `node`, regardless of its name; no_value if none.
ValueId operand(const Node& node, std::size_t index);

/// Producer and consumers of each value, as of construction: later changes are not reflected.
/// Nested graphs are not visited; their node lists the captured values as arguments.
class Uses {
 public:
  explicit Uses(const Graph& graph);

  /// The index of the producer of a value; empty if no node produces it.
  std::optional<std::size_t> maker(ValueId id) const;

  /// The indices of a value's consumers, in order; a node that uses it twice is listed twice.
  std::span<const std::size_t> readers(ValueId id) const;
  /// The last consumer; empty if unused.
  std::optional<std::size_t> last_reader(ValueId id) const;

  /// True for a graph output.
  bool is_output(ValueId id) const;
  /// True if the step writes the value back into a buffer (Graph::mutations).
  bool is_written_back(ValueId id) const;

 private:
  void find_readers(const Graph& graph);

  std::vector<std::size_t> makers_;
  /// By value: start of its consumers in readers_; they end at the next value's.
  std::vector<std::size_t> first_reader_;
  std::vector<std::size_t> readers_;
  std::vector<bool> is_output_, is_written_back_;
};

}  // namespace symprof::trace

// Who makes and who reads the values of a graph, and what the arguments of a node are.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// No position: an argument is looked for by its name alone.
constexpr std::size_t any_position = std::numeric_limits<std::size_t>::max();

/// The argument of that name, where the file's reader gives names; else the one at `position` among
/// the arguments without a name, which are in the order of the operator's schema. Null where there
/// is none.
const Argument* find_argument(const Node& node, std::string_view name,
                              std::size_t position = any_position);
Argument* find_argument(Node& node, std::string_view name, std::size_t position = any_position);

/// What an argument holds; null for no argument, and for one that holds something else.
template <class T>
const T* argument_as(const Argument* argument) {
  return argument == nullptr ? nullptr : std::get_if<T>(&argument->value);
}

/// What argument `index` of `node` holds, whatever its name; null where there is none.
template <class T>
const T* argument_at(const Node& node, std::size_t index) {
  return argument_as<T>(index < node.arguments.size() ? &node.arguments[index] : nullptr);
}

/// The value that an argument names; no_value for no argument, and for one that names none or
/// several.
ValueId value_of(const Argument* argument);

/// The value that argument `index` of `node` names, whatever its name; no_value where there is
/// none.
ValueId operand(const Node& node, std::size_t index);

/// Who makes and who reads each value of a graph as it is when this is made: later changes are not
/// seen. Nested graphs are not looked into; a node that has one names the values that it takes from
/// around it.
class Uses {
 public:
  explicit Uses(const Graph& graph);

  /// The index of the node that makes a value; empty for a value that no node makes.
  std::optional<std::size_t> maker(ValueId id) const;

  /// The indices of the nodes that read a value, in order. A node that names it twice is there
  /// twice.
  std::span<const std::size_t> readers(ValueId id) const;
  /// The last of `readers`; empty for a value that no node reads.
  std::optional<std::size_t> last_reader(ValueId id) const;

  /// Whether a value is among the graph's outputs.
  bool is_output(ValueId id) const;
  /// Whether the step writes a value back into a buffer (Graph::mutations).
  bool is_written_back(ValueId id) const;

 private:
  void find_readers(const Graph& graph);

  std::vector<std::size_t> makers_;
  /// By value: where its readers begin in readers_; those of the next one end them.
  std::vector<std::size_t> first_reader_;
  std::vector<std::size_t> readers_;
  std::vector<bool> is_output_, is_written_back_;
};

}  // namespace symprof::trace

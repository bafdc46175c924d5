// The tensor that a variable refers to in a function with lines.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/python/dtypes/cast_lines.h"

namespace symprof::trace {

class NamedTensors {
 public:
  /// Both have to outlive this, and the graph has to keep its nodes.
  NamedTensors(const Graph& graph, CastLines& lines) : graph_(graph), lines_(lines) {}

  /// "y" of "y.dtype"; empty for a module's own, "self.weight.dtype".
  static std::string_view name_in(std::string_view expression);

  /// The call of a function that a node ran in.
  std::size_t call_of(std::size_t node);

  /// The value that the function bound to the variable last, before the node at `index`.
  ValueId bound_before(std::size_t index, std::size_t call, std::string_view name);

  /// The first tensor argument of a call: the first that its nodes read and did not make, up to
  /// `end`.
  ValueId given_to(std::size_t call, std::size_t end);

  /// The tensor argument with that name, for the node at `index`: the one that the first statement
  /// which reads the name takes, before or after the node; no_value if that statement takes
  /// several.
  ValueId given_as(std::string_view name, std::size_t call, std::size_t index);

  /// True if a node ran in the call or in a call that it made.
  bool is_inside(std::size_t node, std::size_t call);

 private:
  bool is_float(ValueId id) const;
  const std::vector<std::size_t>& statements_of(std::size_t call);
  std::size_t first_of(std::size_t call);
  std::size_t call_of_statement(std::size_t statement);

  const Graph& graph_;
  CastLines& lines_;
  std::vector<std::vector<std::size_t>> statements_;  // By call; computed on first use.
  std::vector<std::size_t> first_;                    // By call; computed on first use.
};

}  // namespace symprof::trace

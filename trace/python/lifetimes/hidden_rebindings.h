// Variables that a loop rebinds by a line without nodes: `state = outputs[0]`, `parts = []`.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/python/lifetimes/calls.h"
#include "trace/python/source/assignment.h"

namespace symprof::trace {

/// A value that a local variable keeps alive until its function returns, as far as lines with nodes
/// show.
struct HeldByVariable {
  ValueId value = no_value;
  std::string_view name;
  std::size_t statement = no_index;  ///< The one that bound the variable.
  std::size_t last_else = 0;         ///< The last node that needs the value for other reasons.
};

/// In
///
///     for layer in layers:
///         outputs = layer(state)
///         state = outputs[0]
///
/// the second line makes no node. Assume that variable v was rebound to a value if a loop line
/// reads that value from its own previous iteration under no known name, and no longer reads v. Of
/// several such variables, the rebound one held a value of the same shape and dtype; if none did,
/// nothing is assumed.
class HiddenRebindings {
 public:
  HiddenRebindings(const Graph& graph, const PythonRun& run,
                   const std::vector<Assignment>& assignments);

  /// Shortens the lifetimes of the values that these variables held. `last`: last use by value, as
  /// in extend_by_variables.
  void release(const std::vector<HeldByVariable>& held, std::vector<std::size_t>& last) const;

 private:
  std::size_t reading_statement(const HeldByVariable& held) const;
  std::vector<ValueId> handed_on(std::size_t statement) const;
  const Assignment& assignment_of(std::size_t statement) const;
  bool has_spec_of(ValueId value, const std::vector<ValueId>& others) const;

  const Graph& graph_;
  const PythonRun& run_;
  const std::vector<Assignment>& assignments_;    // By line.
  std::vector<std::size_t> made_at_, last_read_;  // By value.
  std::vector<std::size_t> next_run_;             // By statement.
};

/// In
///
///     for row in rows:
///         parts = []
///         for x in row:
///             parts.append(f(x))
///         sums.append(torch.stack(parts))
///
/// the second line makes no node. If `stack(parts)` does not read the first element that was
/// appended, and an earlier `stack` did, the variable was rebound to a new list after the earlier
/// `stack`.
class NewLists {
 public:
  NewLists(const Graph& graph, const PythonRun& run, const std::vector<Assignment>& assignments);

  /// The last node during which the list holds what a statement appended, if the variable was
  /// rebound to a new list later; else no_index.
  std::size_t end_of(std::size_t statement) const;

 private:
  struct Join {
    std::size_t statement, first_append;
  };
  struct List {
    std::vector<std::size_t> appends;  ///< The statements.
    std::vector<Join> joins;           ///< In order.
  };

  std::vector<List> find_lists(const Graph& graph, const PythonRun& run,
                               const std::vector<Assignment>& assignments) const;
  void find_ends(const PythonRun& run, const List& list);

  std::unordered_map<std::size_t, std::size_t> ends_;  // By statement.
};

}  // namespace symprof::trace

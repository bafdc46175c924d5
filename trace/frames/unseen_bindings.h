// Names that a loop binds anew by a line that makes no node: `state = outputs[0]`, `parts = []`.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/frames/assignment.h"
#include "trace/frames/calls.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// A value that a name holds until its function returns, as far as lines with nodes tell.
struct HeldByName {
  ValueId value = no_value;
  std::string_view name;
  std::size_t statement = no_index;  ///< The one that bound the name.
  std::size_t last_else = 0;         ///< The last node that needs the value for other reasons.
};

/// In
///
///     for layer in layers:
///         outputs = layer(state)
///         state = outputs[0]
///
/// the second line makes no node. Where a line runs again, reads what its first run has made
/// without naming what that was bound to, and does not read any more what one of its names held, it
/// is that name that was bound anew in between. Of several such names it is the one whose value had
/// the shape and dtype of what is read now; else none is taken to be.
class UnseenBindings {
 public:
  UnseenBindings(const Graph& graph, const PythonRun& run,
                 const std::vector<Assignment>& assignments);

  /// Puts the deaths of such values forward: `last` is by value, as in hold_by_names.
  void let_go(const std::vector<HeldByName>& held, std::vector<std::size_t>& last) const;

 private:
  std::size_t reading_statement(const HeldByName& held) const;
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
/// the second line makes no node. Where `stack(parts)` leaves out what was appended first, and an
/// earlier one had joined that, the list was begun anew behind the earlier one.
class BegunLists {
 public:
  BegunLists(const Graph& graph, const PythonRun& run, const std::vector<Assignment>& assignments);

  /// The last node during which the list holds what a statement has appended, if it was begun anew
  /// after that; no_index otherwise.
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

// Lines that unpack more results than the nodes of their call return.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/python/lifetimes/calls.h"
#include "trace/python/source/assignment.h"

namespace symprof::trace {

/// A result that no node reads, and the variable that a line binds it to.
struct UnreadResult {
  ValueId value = no_value;
  std::size_t statement = no_index;  ///< The one that binds it.
  std::string_view name;
};

/// In `out, rest = block(x)`, if only one result is needed later, the other one is None, a number,
/// a container, or a tensor that nothing reads.
///
/// An export keeps calls whose results nothing reads. In
///
///     def forward(self, x):
///         …
///         cache = torch.stack((k, v))
///         return out, cache
///
/// the caller's second name is the stack. So if the called function bound exactly as many unread
/// results to variables as the caller's line lacks, those are the returned ones.
class MissingResults {
 public:
  /// `assignments` is by line, and has to outlive this, as have the others.
  MissingResults(const Graph& graph, const PythonRun& run,
                 const std::vector<Assignment>& assignments);

  /// How many names of the statement have no known value.
  std::size_t count(std::size_t statement) const { return missing_[statement]; }

  /// How many results of the statement are needed after it or returned by its last call.
  std::size_t results(std::size_t statement) const { return results_[statement]; }

  const std::vector<UnreadResult>& unread() const { return unread_; }

 private:
  void count_results();
  void count_missing();
  void find_unread();
  std::size_t targets_of_call(std::size_t statement) const;
  bool is_named_in_its_function(std::size_t node) const;
  const Assignment& assignment_of(std::size_t statement) const;

  const Graph& graph_;
  const PythonRun& run_;
  const std::vector<Assignment>& assignments_;
  std::vector<std::size_t> last_read_;          // By value; no_index for what nothing reads.
  std::vector<std::size_t> results_, missing_;  // By statement.
  std::vector<UnreadResult> unread_;
};

}  // namespace symprof::trace

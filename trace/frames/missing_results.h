// Lines that name more results than the nodes of their call give.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/frames/assignment.h"
#include "trace/frames/calls.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// A result that no node reads, and the name that a line gives to it.
struct UnreadResult {
  ValueId value = no_value;
  std::size_t statement = no_index;  ///< The one that names it.
  std::string_view name;
};

/// `out, rest = block(x)` where something is needed of one result only: the other one is None, a
/// number or a container; or it is a tensor that nothing reads.
///
/// An export keeps calls whose results nothing reads, as Python made them: in
///
///     def forward(self, x):
///         …
///         cache = torch.stack((k, v))
///         return out, cache
///
/// what the call of this function names besides `out` is the stack. So where as many results that
/// nothing reads were bound to names in a call as its line lacks, it is those that are returned.
class MissingResults {
 public:
  /// `assignments` is by line, and has to outlive this, as have the others.
  MissingResults(const Graph& graph, const PythonRun& run,
                 const std::vector<Assignment>& assignments);

  /// How many names of the statement nothing is known of.
  std::size_t count(std::size_t statement) const { return missing_[statement]; }

  /// How many results of the statement something needs after it, or its last call gives.
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

// Calls that return a container of which only elements are read: `outputs = stage(x)`, `x =
// outputs[0]`.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/graph/uses.h"
#include "trace/python/lifetimes/calls.h"
#include "trace/python/source/assignment.h"

namespace symprof::trace {

/// In
///
///     for stage in stages:
///         outputs = stage(x)
///         x, before = outputs[0], outputs[1]
///
/// the last line makes no node, and an export does not have it. But the result of the call is never
/// read under the line's variable, only under another name: so the variable holds a container,
/// which keeps everything alive that the function returned.
class HiddenContainers {
 public:
  /// `assignments` is by line, and has to outlive this, as have the others.
  HiddenContainers(const Graph& graph, const PythonRun& run,
                   const std::vector<Assignment>& assignments);

  /// The last node during which the variable that a statement binds holds such a container;
  /// no_index if it holds none.
  std::size_t end_of(std::size_t statement) const;

  /// True if the function reads the value only under another name, which no line with a node binds
  /// (`before = x`): the function holds that name, too, when it returns.
  bool has_other_name(ValueId value, std::size_t statement) const;

 private:
  enum class Reading { none, by_name, otherwise };

  const SourceLine& line_of(std::size_t statement) const;
  const Assignment& assignment_of(std::size_t statement) const;
  Reading reading_of(ValueId value, std::size_t statement) const;

  const Graph& graph_;
  const PythonRun& run_;
  const std::vector<Assignment>& assignments_;
  Uses uses_;
};

}  // namespace symprof::trace

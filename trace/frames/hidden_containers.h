// Calls that seem to return more than what is read of it: `outputs = stage(x)`, `x = outputs[0]`.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/frames/assignment.h"
#include "trace/frames/calls.h"
#include "trace/graph/graph.h"
#include "trace/graph/uses.h"

namespace symprof::trace {

/// In
///
///     for stage in stages:
///         outputs = stage(x)
///         x, before = outputs[0], outputs[1]
///
/// the last line makes no node, and an export does not have it. But what the call gave is never
/// read under the name that the line gives to it, and is read under another one: the name holds a
/// container, and with it whatever the function returned beside.
class HiddenContainers {
 public:
  /// `assignments` is by line, and has to outlive this, as have the others.
  HiddenContainers(const Graph& graph, const PythonRun& run,
                   const std::vector<Assignment>& assignments);

  /// The last node during which the name that a statement binds holds such a container; no_index
  /// where it holds none.
  std::size_t end_of(std::size_t statement) const;

  /// Whether the function of a statement reads the value that it binds under another name, which no
  /// line with a node gives to it (`before = x`): it holds that name, too, when it returns.
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

// Stack traces, as exporters leave them with nodes, as lines of Python that call one another.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Interns stack traces into Graph::source_lines. The text given to it must outlive it.
class SourceTable {
 public:
  explicit SourceTable(std::vector<SourceLine>& lines) : lines_(lines) {}

  /// `trace` is what Python's traceback module formats, the outermost call first:
  /// `File "…", line 12, in forward`, and the text of that line below it. Returns the innermost
  /// line; no_source where the trace has none.
  SourceId intern(std::string_view trace);

 private:
  SourceId child(SourceId caller, std::string_view place, std::string_view text);

  std::vector<SourceLine>& lines_;
  std::string_view last_trace_;  // Most nodes come from the line of the one before.
  SourceId last_ = no_source;
  std::unordered_map<std::string_view, SourceId> traces_;
  std::vector<std::unordered_map<std::string_view, SourceId>> children_;  // By caller + 1.
};

}  // namespace symprof::trace

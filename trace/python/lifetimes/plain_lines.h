// Lines of Python that bind variables and make no node: `residual = x`, `xs = []`, `del x`.
#pragma once

#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// A graph has such lines if a trace's Python source is given (trace/torchscript/python_sources.h),
/// with the loops and conditions around them.
class PlainLines {
 public:
  explicit PlainLines(const Graph& graph);

  /// The plain lines that ran, in order, between two lines with nodes of one function call. A line
  /// in a block ran if `from` lies in that block above it, or `to` below it. If `to` is not further
  /// down, the innermost loop around both has begun its next iteration.
  std::vector<SourceId> between(const SourceLine& from, const SourceLine& to) const;

 private:
  using Function = std::tuple<SourceId, std::string_view, std::string_view>;  // Caller, file, name.

  const SourceLine& line(SourceId id) const {
    return graph_.source_lines[static_cast<std::size_t>(id)];
  }

  const Graph& graph_;
  std::map<Function, std::vector<SourceId>> lines_;  // In order.
};

}  // namespace symprof::trace

// Lines of Python that bind names and make no node: `residual = x`, `xs = []`, `del x`.
#pragma once

#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Such lines are among a graph's where a trace's Python is there
/// (trace/torchscript/python_sources.h), with the loops and conditions that they lie in.
class PlainLines {
 public:
  explicit PlainLines(const Graph& graph);

  /// Those that ran, in order, when a call of a function went from one of its lines with nodes to
  /// the next. A line in a block ran if `from` lies in that block above it, or `to` below it. Where
  /// `to` is not further down, the innermost loop that has both has begun another round.
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

// The calls of Python functions that made a graph's nodes, and the statements that ran in them.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

constexpr std::size_t no_index = static_cast<std::size_t>(-1);

/// One call of a function.
struct PythonCall {
  /// The statement that makes the call; no_index for the outermost call.
  std::size_t statement = no_index;
  std::size_t last = 0;  ///< The index of its last node.
  ScopeId module = 0;    ///< Whose forward function it is; the caller's where it is no module's.
};

/// One run of a statement.
struct PythonStatement {
  std::size_t call = 0;  ///< The call that it runs in.
  SourceId line = no_source;
  std::size_t last = 0;           ///< The index of its last node, nodes of calls inside included.
  std::size_t result = no_index;  ///< The index of its last node that has results.
  /// It binds variables and makes no node, `residual = x`: `last` is that of the statement before
  /// it. Only if the Python source is given (plain_lines.h).
  bool is_plain = false;
};

struct PythonRun {
  std::vector<PythonCall> calls;
  std::vector<PythonStatement> statements;  ///< In the order in which they begin.
  std::vector<std::size_t> statement_of;    ///< By node, the innermost; no_index where not known.

  /// The statement that makes the call in which this one runs; no_index in the outermost call.
  std::size_t caller_of(std::size_t statement) const {
    return calls[statements[statement].call].statement;
  }
  /// The statement of `call` during which the node runs, in `call` itself or in a function that the
  /// statement calls; no_index for nodes outside of the call.
  std::size_t statement_in(std::size_t call, std::size_t node) const;
};

/// Rebuilds the function calls from the lines of nodes. Two calls from one line differ in the
/// modules whose forward functions they are; two runs of one line, in a loop, differ in the modules
/// of one kind that they call (callees.h).
PythonRun rebuild_calls(const Graph& graph);

/// True if the line at which a call was made makes it itself, and not a function without lines that
/// it calls. True for the outermost call.
bool is_called_by_its_line(const Graph& graph, const PythonRun& run, std::size_t call);

}  // namespace symprof::trace

// The file's sizes of results, for operators without a rule.
#pragma once

#include "trace/graph/graph.h"
#include "trace/graph/symbol_table.h"

namespace symprof::trace {

/// Numbers in place of the symbols in the file's sizes of results. Those numbers that the file has
/// hold for its own fixed sizes only: with others (`resized`) nothing is known.
void fix_recorded_sizes(Graph& graph, const SymbolTable& symbols, bool resized);

}  // namespace symprof::trace

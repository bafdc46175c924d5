#include "trace/passes/recorded_sizes.h"

namespace symprof::trace {

void fix_recorded_sizes(Graph& graph, const SymbolTable& symbols, bool resized) {
  for (Value& result : graph.values) {
    if (resized) result.recorded_sizes.reset();
    if (!result.recorded_sizes) continue;
    for (Dimension& dimension : *result.recorded_sizes)
      if (!dimension.symbol.empty())
        dimension.size = symbols.evaluate(dimension.symbol).value_or(-1);
  }
}

}  // namespace symprof::trace

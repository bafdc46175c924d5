#include "trace/passes/position_tables.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

/// True if `id` counts up to at most `rows`: it comes from `arange`, or from a buffer of so many
/// numbers, and from no input but its sizes.
bool counts_rows(const Graph& graph, const Uses& uses, ValueId id, std::int64_t rows) {
  std::vector<ValueId> open = {id};
  std::vector<bool> seen(graph.values.size());
  bool counts = false;
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    if (next == no_value || seen[static_cast<std::size_t>(next)]) continue;
    seen[static_cast<std::size_t>(next)] = true;
    const auto maker = uses.maker(next);
    if (!maker) {
      const Value& value = graph.value(next);
      if (value.kind == ValueKind::input) return false;
      counts |= value.spec && value.spec->numel() == rows;
      continue;
    }
    const Node& node = graph.nodes[*maker];
    counts |= node.op == "aten::arange";
    if (node.op == "aten::sym_size") continue;
    for_each_value(node, [&](ValueId operand) { open.push_back(operand); });
  }
  return counts;
}

}  // namespace

void check_position_tables(Graph& graph, const SpecOf& spec_of) {
  const Uses uses(graph);
  const KeyValueCache& cache = graph.kv_cache;
  const std::int64_t tokens = cache.tokens + cache.added_tokens;
  for (const Node& node : graph.nodes) {
    if (node.op != "aten::embedding") continue;
    const ValueId table = value_of(find_argument(node, "weight", 0));
    const ValueId indices = value_of(find_argument(node, "indices", 1));
    if (table == no_value || indices == no_value) continue;
    const TensorSpec *rows = spec_of(table), *looked_up = spec_of(indices);
    if (rows == nullptr || looked_up == nullptr || rows->sizes.empty()) continue;
    const std::int64_t number = looked_up->numel();
    const bool one_each =
        number == cache.added_tokens || number == cache.sequences * cache.added_tokens;
    if (!one_each || rows->sizes[0] >= tokens || !counts_rows(graph, uses, indices, rows->sizes[0]))
      continue;
    graph.warnings.push_back(fmt::format(
        "'{}' has {} rows, one for each position; {} tokens before the step and {} in it need {}.",
        graph.value(table).name, rows->sizes[0], cache.tokens, cache.added_tokens, tokens));
  }
}

}  // namespace symprof::trace

#include "trace/graph/named_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "trace/graph/expression.h"

namespace symprof::trace {
namespace {

/// 4 for "4*s65"; 1 if not a multiple of one symbol.
std::int64_t factor_of(const std::string& expression) {
  if (symbols(expression).size() != 1) return 1;
  const auto at = [&](std::int64_t size) {
    return evaluate(expression, [size](std::string_view) { return size; });
  };
  return at(0) == 0 ? std::max<std::int64_t>(at(1).value_or(1), 1) : 1;
}

bool is_number(const Value& input) { return !input.spec && input.dimensions.size() < 2; }

bool is_integer(const Value& input) {
  return input.spec && !is_floating_point(input.spec->dtype) && input.spec->dtype != DType::boolean;
}

/// The common symbol of dimension `index` over the inputs selected by `counts`; empty if they
/// differ or have none.
std::string common_symbol(const Graph& graph, std::size_t index, bool (*counts)(const Value&)) {
  std::string common;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    if (!counts(input)) continue;
    if (input.dimensions.size() <= index) return "";
    const std::string& symbol = input.dimensions[index].symbol;
    if (!is_symbol(symbol) || (!common.empty() && symbol != common)) return "";
    common = symbol;
  }
  return common;
}

bool is_name_of_dimension(const Graph& graph, const std::string& name) {
  for (const ValueId id : graph.inputs)
    for (std::size_t i = 0; i < graph.value(id).dimensions.size(); ++i)
      if (is_called(graph.value(id), i, name)) return true;
  return false;
}

}  // namespace

std::string resolved_name(const Graph& graph, const std::string& name) {
  if ((name != "batch" && name != "seq") || is_name_of_dimension(graph, name)) return name;
  const std::string symbol =
      name == "batch"
          ? common_symbol(graph, 0, [](const Value& input) { return !is_number(input); })
          : common_symbol(graph, 1, is_integer);
  return symbol.empty() ? name : symbol;
}

bool is_called(const Value& input, std::size_t dimension, const std::string& name) {
  return input.dimensions[dimension].symbol == name ||
         fmt::format("{}.{}", input.name, dimension) == name;
}

std::string symbol_of(const Graph& graph, const std::string& given) {
  std::string name = resolved_name(graph, given);
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[static_cast<std::size_t>(id)];
    for (std::size_t i = 0; i < input.dimensions.size(); ++i)
      if (is_called(input, i, name) && !input.dimensions[i].symbol.empty())
        return input.dimensions[i].symbol;
  }
  return name;
}

SymbolRange range_of(const Graph& graph, const std::string& symbol) {
  for (const SymbolRange& range : graph.symbol_ranges)
    if (range.symbol == symbol) return range;
  return {.symbol = symbol};
}

NamedDimension dimension_called(const Graph& graph, const std::string& given) {
  const std::string name = resolved_name(graph, given);
  NamedDimension found;
  std::string symbol = name;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[static_cast<std::size_t>(id)];
    for (std::size_t i = 0; input.spec && i < input.dimensions.size(); ++i) {
      if (!is_called(input, i, name)) continue;
      symbol = input.dimensions[i].symbol;
      found.size = input.spec->sizes[i];
      found.factor = factor_of(symbol);
    }
  }
  found.most = range_of(graph, symbol).most;
  return found;
}

std::optional<BatchDimension> batch_dimension(const Graph& graph) {
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[static_cast<std::size_t>(id)];
    if (!input.spec || input.dimensions.empty()) continue;
    const std::string& symbol = input.dimensions[0].symbol;
    if (!is_symbol(symbol)) continue;
    return BatchDimension{.symbol = symbol,
                          .size = input.spec->sizes[0],
                          .least = std::max<std::int64_t>(range_of(graph, symbol).least, 1)};
  }
  return std::nullopt;
}

}  // namespace symprof::trace

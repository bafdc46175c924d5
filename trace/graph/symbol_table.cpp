#include "trace/graph/symbol_table.h"

#include <fmt/format.h>

#include "trace/graph/expression.h"

namespace symprof::trace {

std::optional<std::int64_t> SymbolTable::find(std::string_view symbol) const {
  const auto found = sizes_.find(symbol);
  if (found == sizes_.end()) return std::nullopt;
  return found->second;
}

void SymbolTable::constrain(const std::string& expression, std::int64_t size,
                            const ErrorPlace& where) {
  std::vector<std::string> open;
  for (std::string& symbol : symbols(expression))
    if (!find(symbol)) open.push_back(std::move(symbol));
  if (!is_symbol(expression) && open.size() == 1) {
    const auto lookup = [this](std::string_view name) { return find(name); };
    if (const auto value = solve(expression, open[0], size, lookup); value && *value >= 0)
      bind(open[0], *value, where);
  }
  bind(expression, size, where);
}

std::optional<std::int64_t> SymbolTable::evaluate(const std::string& expression) const {
  if (const auto size = find(expression)) return size;
  return trace::evaluate(expression, [this](std::string_view name) { return find(name); });
}

void SymbolTable::bind(const std::string& symbol, std::int64_t size, const ErrorPlace& where) {
  const auto known = evaluate(symbol);
  if (known && *known != size)
    throw Error(where, fmt::format("{} is {} here and {} elsewhere", symbol, size, *known),
                "Dimensions with one symbol have one size: give all of them, or only one.");
  sizes_.emplace(symbol, size);
}

}  // namespace symprof::trace

#include "session/sizes_of_step.h"

#include <algorithm>

#include "trace/graph/expression.h"
#include "trace/graph/named_sizes.h"

namespace symprof {
namespace {

/// A symbol once, with the size of its first dimension that has one.
std::vector<NamedSize> sizes_of_symbols(const Graph& graph) {
  std::vector<NamedSize> sizes;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    for (std::size_t i = 0; input.spec && i < input.dimensions.size(); ++i) {
      const std::string& symbol = input.dimensions[i].symbol;
      const bool is_known = std::ranges::find(sizes, symbol, &NamedSize::name) != sizes.end();
      if (trace::is_symbol(symbol) && !is_known && i < input.spec->sizes.size())
        sizes.push_back({.name = symbol, .size = input.spec->sizes[i]});
    }
  }
  return sizes;
}

}  // namespace

std::vector<NamedSize> sizes_of_step(
    const Graph& file, const Graph& bound,
    const std::vector<std::pair<std::string, std::int64_t>>& given) {
  const std::vector<NamedSize> examples = sizes_of_symbols(file);
  std::vector<NamedSize> sizes = sizes_of_symbols(bound);
  for (NamedSize& size : sizes) {
    const auto example = std::ranges::find(examples, size.name, &NamedSize::name);
    size.is_given = example == examples.end() || example->size != size.size ||
                    std::ranges::any_of(given, [&](const auto& setting) {
                      return trace::symbol_of(bound, setting.first) == size.name;
                    });
  }
  for (NamedSize& size : sizes)
    for (const char* usual : {"batch", "seq"})
      if (trace::resolved_name(bound, usual) == size.name) size.name = usual;
  return sizes;
}

}  // namespace symprof

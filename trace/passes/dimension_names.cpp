#include "trace/passes/dimension_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/setting.h"
#include "trace/graph/expression.h"

namespace symprof::trace {
namespace {

constexpr std::size_t most_listed = 12;

bool is_open(const Dimension& dimension) { return !dimension.symbol.empty() || dimension.size < 0; }

const Value* input_to_name(const Graph& graph) {
  const Value* first = nullptr;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    if (!input.spec || input.dimensions.empty()) continue;
    if (std::ranges::any_of(input.dimensions, is_open)) return &input;
    if (first == nullptr) first = &input;
  }
  return first;
}

/// The usual words: a batch of sequences of numbers that stand for tokens, or of anything.
std::string usual_name(const Value& input, std::size_t index) {
  if (index == 0) return "batch";
  const bool is_text = index == 1 && !is_floating_point(input.spec->dtype);
  return is_text ? "seq" : fmt::format("size{}", index);
}

}  // namespace

std::set<std::string> dimension_names(const Graph& graph) {
  std::set<std::string> names;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    for (std::size_t i = 0; i < input.dimensions.size(); ++i) {
      const Dimension& dimension = input.dimensions[i];
      if (!is_open(dimension)) continue;
      names.insert(fmt::format("{}.{}", input.name, i));
      if (dimension.symbol.empty()) continue;
      names.insert(dimension.symbol);
      for (std::string& symbol : symbols(dimension.symbol)) names.insert(std::move(symbol));
    }
  }
  for (const Value& result : graph.values)
    if (result.kind == ValueKind::result)
      for (const Dimension& dimension : result.dimensions)
        if (is_symbol(dimension.symbol)) names.insert(dimension.symbol);
  return names;
}

std::string known_dimensions(const Graph& graph) {
  const std::set<std::string> all = dimension_names(graph);
  const std::string example = naming_example(graph);
  const std::string naming = example.empty() ? "" : setting("inputs", example);
  if (all.empty())
    return fmt::format("All sizes are fixed in the file: {} can override {}.", setting("inputs"),
                       naming.empty() ? "them" : "them, and " + naming + " names them");
  std::vector<std::string> listed(all.begin(), all.end());
  const std::size_t more = listed.size() - std::min(listed.size(), most_listed);
  listed.resize(listed.size() - more);
  return fmt::format("Known: {}{}{}.", fmt::join(listed, ", "),
                     more == 0 ? "" : fmt::format(", and {} more", more),
                     naming.empty() ? "" : "; or name them with " + naming);
}

std::vector<std::string> open_dimensions(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    for (std::size_t i = 0; i < input.dimensions.size(); ++i) {
      const Dimension& dimension = input.dimensions[i];
      const bool is_unnamed = dimension.symbol.empty() && dimension.size < 0;
      if (!is_unnamed && !is_symbol(dimension.symbol)) continue;
      std::string name = is_unnamed ? fmt::format("{}.{}", input.name, i) : dimension.symbol;
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

std::string naming_example(const Graph& graph) {
  const Value* input = input_to_name(graph);
  if (input == nullptr) return "";
  const bool any_open = std::ranges::any_of(input->dimensions, is_open);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < input->dimensions.size(); ++i) {
    const Dimension& dimension = input->dimensions[i];
    const bool is_named = is_open(dimension) || (!any_open && i == 0);
    names.push_back(is_named ? usual_name(*input, i) : std::to_string(dimension.size));
  }
  return fmt::format("{}=[{}]", input->name, fmt::join(names, ","));
}

}  // namespace symprof::trace

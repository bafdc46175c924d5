#include "shape/step/guessed_casts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace symprof::shape {
namespace {

const TensorSpec* spec_of_first(const std::vector<TensorRecord>& tensors,
                                const Recording& recording) {
  if (tensors.empty() || tensors[0].spec == none) return nullptr;
  return &recording.specs[static_cast<std::size_t>(tensors[0].spec)];
}

bool is_cast_back(const NodeRecord& node, const Recording& recording) {
  const TensorSpec* given = spec_of_first(node.inputs, recording);
  const TensorSpec* made = spec_of_first(node.outputs, recording);
  return given != nullptr && made != nullptr && is_floating_point(given->dtype) &&
         given->dtype != made->dtype;
}

using NodesByName = std::unordered_map<std::string_view, const NodeRecord*>;

NodesByName nodes_of_graph(const Recording& recording) {
  NodesByName nodes;
  for (const NodeRecord& node : recording.nodes)
    if (node.graph_node != none) nodes.emplace(node.name, &node);
  return nodes;
}

/// Adds the names of nodes in nested graphs (of checkpointed modules), which have no rows.
void add_nested_nodes(const Graph& graph, std::unordered_set<std::string_view>& names) {
  for (const Node& outer : graph.nodes)
    for (const Argument& argument : outer.arguments) {
      const auto* nested = std::get_if<std::shared_ptr<const Graph>>(&argument.value);
      if (nested == nullptr || *nested == nullptr) continue;
      for (const Node& node : (*nested)->nodes) names.insert(node.name);
      add_nested_nodes(**nested, names);
    }
}

/// The guesses whose alternative would give another dtype.
std::vector<const GuessedDType*> guesses_that_count(const Graph& graph,
                                                    const Recording& recording) {
  const NodesByName nodes = nodes_of_graph(recording);
  std::unordered_set<std::string_view> nested;
  add_nested_nodes(graph, nested);
  std::vector<const GuessedDType*> counted;
  for (const GuessedDType& guess : graph.guessed_dtypes) {
    const auto node = nodes.find(guess.name);
    const bool is_row = node != nodes.end();
    if (!is_row && !guess.is_constant && !nested.contains(guess.name)) continue;
    if (!is_row || guess.is_constant || guess.is_corrected ||
        !is_cast_back(*node->second, recording))
      counted.push_back(&guess);
  }
  return counted;
}

}  // namespace

void warn_of_guessed_casts(const Graph& graph, Recording& recording) {
  if (graph.guessed_dtypes.empty() || !graph.cast_to) return;
  const auto counted = guesses_that_count(graph, recording);
  if (counted.empty()) return;
  std::string corrected;
  const auto is_corrected = [](const GuessedDType* guess) { return guess->is_corrected; };
  if (const auto first = std::ranges::find_if(counted, is_corrected); first != counted.end())
    corrected = fmt::format(
        " {} of them (first {}) {} taken the other way, as CUDA refuses a call otherwise.",
        std::ranges::count_if(counted, is_corrected), (*first)->name,
        std::ranges::count_if(counted, is_corrected) == 1 ? "was" : "were");
  recording.warnings.push_back(fmt::format(
      "the file does not show whether {} cast{} or new tensors (first {}) name a dtype in the code "
      "or take the model's: what changed nothing was taken to follow {}, if no loss reads it.{} "
      "Exported in {}, the file tells.",
      counted.size(), counted.size() == 1 ? "" : "s", counted[0]->name, name(*graph.cast_to),
      corrected, name(*graph.cast_to)));
}

void warn_of_kept_casts(const Graph& graph, Recording& recording) {
  if (graph.kept_casts.empty() || graph.cast_to) return;
  const NodesByName nodes = nodes_of_graph(recording);
  std::vector<std::string_view> counted;
  counted.reserve(graph.kept_casts.size());
  for (const std::string& cast : graph.kept_casts)
    if (const auto node = nodes.find(cast);
        node != nodes.end() && is_cast_back(*node->second, recording))
      counted.push_back(cast);
  if (counted.empty()) return;
  recording.warnings.push_back(fmt::format(
      "under autocast {} cast{} (first {}) make{} another dtype of what did not need it when the "
      "file was made. It does not show whether the code names that dtype, as is assumed, or takes "
      "a tensor's (`x.to(y.dtype)`), which would change nothing here either.",
      counted.size(), counted.size() == 1 ? "" : "s", counted[0], counted.size() == 1 ? "s" : ""));
}

}  // namespace symprof::shape

#include "shape/step/guessed_casts.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>

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

}  // namespace

void warn_of_guessed_casts(const Graph& graph, Recording& recording) {
  if (graph.guessed_casts.empty() || !graph.cast_to) return;
  const std::unordered_set<std::string_view> guessed(graph.guessed_casts.begin(),
                                                     graph.guessed_casts.end());
  std::size_t count = 0;
  std::string_view first;
  for (const NodeRecord& node : recording.nodes) {
    if (node.graph_node == none || !guessed.contains(node.name) || is_cast_back(node, recording))
      continue;
    if (count++ == 0) first = node.name;
  }
  if (count == 0) return;
  recording.warnings.push_back(fmt::format(
      "the file does not show whether {} cast{} or new tensors (first {}) name a dtype in the code "
      "or take the model's: what changed nothing was taken to follow {}. Exported in {}, the file "
      "tells.",
      count, count == 1 ? "" : "s", first, name(*graph.cast_to), name(*graph.cast_to)));
}

}  // namespace symprof::shape

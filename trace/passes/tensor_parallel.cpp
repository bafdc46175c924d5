#include "trace/passes/tensor_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "trace/graph/uses.h"
#include "trace/passes/tensor_split_search.h"

namespace symprof::trace {

std::set<ValueId> distributed_parameters(const Graph& graph) {
  const Uses uses(graph);
  const auto op_of = [&](std::optional<std::size_t> node) {
    return node ? std::string_view(graph.nodes[*node].op) : std::string_view();
  };
  const auto is_added = [](std::string_view op) { return op.starts_with(tensor_parallel_prefix); };
  std::set<ValueId> found;
  for (const Node& node : graph.nodes) {
    bool is_split = is_added(node.op);
    if (node.op == "aten::linear" && !node.outputs.empty()) {
      const std::string_view after = op_of(uses.last_reader(node.outputs[0]));
      is_split = is_added(op_of(uses.maker(operand(node, 0)))) ||
                 (is_added(after) && !after.ends_with("reduce_gradient"));
    }
    if (!is_split) continue;
    for_each_value(node, [&](ValueId id) {
      if (id != no_value && graph.value(id).kind == ValueKind::parameter) found.insert(id);
    });
  }
  return found;
}

void split_tensors(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs) {
  const SplitDecision decision = decide_split(graph, options, specs);
  const auto has = [&](LinearSplit split) {
    return std::ranges::any_of(decision.plan.layers,
                               [&](const auto& layer) { return layer.second == split; });
  };
  if (!has(LinearSplit::row))
    throw Error(SettingRef{"parallel", options.text},
                fmt::format("{} has no linear layers in repeated blocks that {} ranks can share.",
                            graph.path, options.tensor),
                "Take a number that divides heads and features, or another engine.");
  if (options.loss && !has(LinearSplit::loss))
    throw Error(
        SettingRef{"parallel", options.text},
        graph.path + " has no cross entropy of what a linear layer behind the blocks makes.",
        "Export the model with its loss, F.cross_entropy of [tokens, words] and whole "
        "targets without weights, or leave `loss` out.");
  const std::vector<std::size_t>& whole = decision.whole_layers;
  if (!whole.empty())
    graph.warnings.push_back(fmt::format(
        "tensor parallelism leaves {} linear layers of blocks whole on each rank (first {}): what "
        "follows them cannot work on a share of {}.",
        whole.size(), graph.nodes[whole.front()].name, options.tensor));
  write_split(graph, options, specs, decision.plan);
}

}  // namespace symprof::trace

#include "trace/onnx/norm_join.h"

#include <array>
#include <string_view>
#include <unordered_map>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/onnx/attention_join.h"

namespace symprof::trace {
namespace {

/// aten__native_batch_norm_no_stats in onnxscript/function_libs/torch_lib/ops/core.py.
constexpr std::string_view norm_target = "_native_batch_norm_legit";

using Calls = std::vector<std::string>;

/// BatchNormalization(X, scale, B, mean, var) whose mean and var nodes of the same call made.
bool has_statistics_of_its_call(const Node& node, const std::string& call, const Calls& calls,
                                const Uses& uses) {
  if (node.op != "onnx::BatchNormalization" || !is_call_of(call, norm_target)) return false;
  if (node.arguments.size() < 5 || node.outputs.size() != 1) return false;
  const auto is_of_call = [&](std::size_t input) {
    const auto maker = uses.maker(operand(node, input));
    return maker && calls[*maker] == call;
  };
  return is_of_call(3) && is_of_call(4);
}

double epsilon(const Node& node) {
  const auto* value = argument_as<double>(find_argument(node, "epsilon"));
  return value != nullptr ? *value : 1e-5;  // BatchNormalization's default, and nn.BatchNorm's.
}

void become_aten(Node& node) {
  const double eps = epsilon(node);
  node.op = "aten::batch_norm";
  node.overload = "default";
  node.arguments.resize(3);
  constexpr std::array names = {"input", "weight", "bias"};
  for (std::size_t i = 0; i < names.size(); ++i) node.arguments[i].name = names[i];
  for (const char* absent : {"running_mean", "running_var"})
    node.arguments.push_back({absent, NoArgument{}});
  node.arguments.push_back({"training", true});
  node.arguments.push_back({"momentum", 0.0});
  node.arguments.push_back({"eps", eps});
  node.arguments.push_back({"cudnn_enabled", true});
}

}  // namespace

void join_norms(Graph& graph, Calls& calls) {
  const Uses uses(graph);
  std::unordered_map<std::string, std::size_t> joined;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!has_statistics_of_its_call(graph.nodes[i], calls[i], calls, uses)) continue;
    become_aten(graph.nodes[i]);
    joined[calls[i]] = i;
  }
  if (joined.empty()) return;
  std::vector<bool> candidates(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto found = joined.find(calls[i]);
    candidates[i] = found != joined.end() && found->second != i;
  }
  erase_gone(calls, remove_unread(graph, candidates));
}

}  // namespace symprof::trace

#include "trace/onnx/norm_join.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <unordered_map>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/onnx/exported_call.h"

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

class GroupNormJoiner {
 public:
  GroupNormJoiner(Graph& graph, const Calls& calls, const ExportedCalls& exported)
      : graph_(graph), calls_(calls), exported_(exported), uses_(graph) {}

  /// By node: true if it may be removed when unused.
  std::vector<bool> run() {
    std::unordered_map<std::string, std::size_t> last;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (is_group_norm(i)) last[calls_[i]] = i;
    std::erase_if(last, [&](const auto& entry) { return !join(entry.second); });
    std::vector<bool> candidates(graph_.nodes.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto found = last.find(calls_[i]);
      candidates[i] = found != last.end() && found->second != i;
    }
    return candidates;
  }

 private:
  bool is_group_norm(std::size_t index) const {
    return is_call_of(calls_[index], "group_norm") && exported_.contains(calls_[index]);
  }

  /// The node of `op` in the same call that made a value.
  const Node* maker(ValueId id, std::string_view op, const std::string& call) const {
    const auto index = uses_.maker(id);
    if (!index || calls_[*index] != call || graph_.nodes[*index].op != op) return nullptr;
    return &graph_.nodes[*index];
  }

  /// The initializer [channels], or [channels, 1, …] used only by group norms, from which a value
  /// is derived; no_value if none.
  ValueId affine(ValueId id, const std::string& call) const {
    for (const std::string_view op : {"onnx::CastLike", "onnx::Unsqueeze"})
      if (const Node* node = maker(id, op, call)) id = operand(*node, 0);
    if (id == no_value || graph_.value(id).kind != ValueKind::constant) return no_value;
    const auto& spec = graph_.value(id).spec;
    if (!spec || spec->sizes.empty() || spec->sizes.front() != spec->numel()) return no_value;
    const auto readers = uses_.readers(id);
    const bool is_theirs =
        std::ranges::all_of(readers, [&](std::size_t reader) { return is_group_norm(reader); });
    return spec->sizes.size() == 1 || is_theirs ? id : no_value;
  }

  bool join(std::size_t index) {
    const std::string& call = calls_[index];
    Node& sum = graph_.nodes[index];
    if (sum.op != "onnx::Add") return false;
    const Node* product = maker(operand(sum, 0), "onnx::Mul", call);
    const Node* whole = product ? maker(operand(*product, 0), "onnx::Reshape", call) : nullptr;
    const Node* norm =
        whole ? maker(operand(*whole, 0), "onnx::InstanceNormalization", call) : nullptr;
    const Node* groups = norm ? maker(operand(*norm, 0), "onnx::Reshape", call) : nullptr;
    const ValueId weight = product ? affine(operand(*product, 1), call) : no_value;
    const ValueId bias = affine(operand(sum, 1), call);
    const ExportedCall& exported = exported_.at(call);
    std::int64_t count = 0;
    const std::string_view text = call_argument(exported, 1, "num_groups");
    std::from_chars(text.data(), text.data() + text.size(), count);
    if (groups == nullptr || weight == no_value || bias == no_value || count < 1) return false;
    const double eps = epsilon(*norm);
    std::vector<Argument> arguments{{"", ValueRef{operand(*groups, 0)}}, {"", count}};
    arguments.push_back(own_argument(exported, 2, "weight", weight));
    arguments.push_back(own_argument(exported, 3, "bias", bias));
    arguments.push_back({"eps", eps});
    sum.op = "aten::group_norm";
    sum.overload = "default";
    sum.arguments = std::move(arguments);
    return true;
  }

  /// Without a weight or bias the exporter writes ones and zeros.
  Argument own_argument(const ExportedCall& call, std::size_t position, std::string_view name,
                        ValueId id) {
    if (const auto text = call_argument(call, position, name); text.empty() || text == "None")
      return {"", NoArgument{}};
    TensorSpec& spec = *graph_.value(id).spec;
    spec.sizes.resize(1);
    spec.strides = contiguous_strides(spec.sizes);
    return {"", ValueRef{id}};
  }

  Graph& graph_;
  const Calls& calls_;
  const ExportedCalls& exported_;
  const Uses uses_;
};

}  // namespace

void join_group_norms(Graph& graph, Calls& calls, const ExportedCalls& exported) {
  erase_gone(calls, remove_unread(graph, GroupNormJoiner(graph, calls, exported).run()));
}

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

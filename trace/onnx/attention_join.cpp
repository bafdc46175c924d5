#include "trace/onnx/attention_join.h"

#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace symprof::trace {
namespace {

constexpr std::string_view target = "scaled_dot_product_attention";

ValueId operand(const Node& node, std::size_t index) {
  if (index >= node.arguments.size()) return no_value;
  const auto* ref = std::get_if<ValueRef>(&node.arguments[index].value);
  return ref == nullptr ? no_value : ref->id;
}

class AttentionJoiner {
 public:
  AttentionJoiner(Graph& graph, const std::vector<std::string>& calls) : graph_(graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const ValueId id : graph.nodes[i].outputs) producers_[id] = i;
      if (is_call_of(calls[i], target)) groups_[calls[i]].push_back(i);
    }
  }

  /// For each node whether it is to go.
  std::vector<bool> run() {
    std::vector<bool> candidates(graph_.nodes.size(), false);
    for (const auto& [call, group] : groups_)
      if (join(group))
        for (std::size_t i = 0; i + 1 < group.size(); ++i) candidates[group[i]] = true;
    return unread(std::move(candidates));
  }

 private:
  const Node* producer(ValueId id) const {
    const auto found = producers_.find(id);
    return found == producers_.end() ? nullptr : &graph_.nodes[found->second];
  }

  /// The number of a one-element float constant.
  std::optional<double> number(ValueId id) const {
    if (id == no_value) return std::nullopt;
    const auto& constant = graph_.values[static_cast<std::size_t>(id)].constant;
    if (!constant || constant->spec.dtype != DType::float32 ||
        constant->data.size() != sizeof(float))
      return std::nullopt;
    float value = 0;
    std::memcpy(&value, constant->data.data(), sizeof value);
    return value;
  }

  /// What a product scales and transposes: back to the first value that no node of the call made.
  std::optional<ValueId> source(ValueId id, const std::unordered_set<std::size_t>& group,
                                double& scale) const {
    while (id != no_value) {
      const auto found = producers_.find(id);
      if (found == producers_.end() || !group.contains(found->second)) return id;
      const Node& node = graph_.nodes[found->second];
      if (node.op == "onnx::Mul") {
        const auto factor = number(operand(node, 1));
        if (!factor) return std::nullopt;
        scale *= *factor;
      } else if (node.op != "onnx::Transpose" && node.op != "onnx::Reshape") {
        return std::nullopt;
      }
      id = operand(node, 0);
    }
    return std::nullopt;
  }

  /// The chain from the result back to the scores: products, softmax and the mask that is added.
  struct Chain {
    ValueId value = no_value, mask = no_value;
    const Node* scores = nullptr;
  };

  std::optional<Chain> find_chain(const Node& last) const {
    Chain chain{.value = operand(last, 1)};
    const Node* node = producer(operand(last, 0));
    // torchlib turns the NaN of rows that are masked as a whole into 0.
    if (node != nullptr && node->op == "onnx::Where") node = producer(operand(*node, 2));
    if (node == nullptr || node->op != "onnx::Softmax") return std::nullopt;
    node = producer(operand(*node, 0));
    if (node != nullptr && node->op == "onnx::Add") {
      chain.mask = operand(*node, 1);
      node = producer(operand(*node, 0));
    }
    if (node == nullptr || node->op != "onnx::MatMul") return std::nullopt;
    chain.scores = node;
    return chain;
  }

  /// True when the mask is a lower triangle made of constants alone.
  bool is_causal(ValueId mask) const {
    bool triangle = false;
    std::vector<ValueId> open{mask};
    std::unordered_set<ValueId> seen;
    while (!open.empty()) {
      const ValueId id = open.back();
      open.pop_back();
      if (id == no_value || !seen.insert(id).second) continue;
      const Node* node = producer(id);
      if (node == nullptr) {
        if (graph_.values[static_cast<std::size_t>(id)].kind != ValueKind::constant) return false;
        continue;
      }
      // The sizes of the mask may come from the shape of queries and keys.
      if (node->op == "onnx::Shape") continue;
      triangle |= node->op == "onnx::Trilu";
      for (const Argument& argument : node->arguments)
        for_each_value(argument, [&](ValueId input) { open.push_back(input); });
    }
    return triangle;
  }

  /// Where(mask, 0, -inf or the lowest number) is a boolean mask.
  ValueId boolean_mask(ValueId mask) const {
    const Node* node = producer(mask);
    if (node == nullptr || node->op != "onnx::Where") return mask;
    constexpr double lowest = std::numeric_limits<float>::lowest();
    const auto kept = number(operand(*node, 1)), hidden = number(operand(*node, 2));
    return kept && *kept == 0 && hidden && *hidden <= lowest ? operand(*node, 0) : mask;
  }

  bool join(const std::vector<std::size_t>& group) {
    Node& last = graph_.nodes[group.back()];
    if (last.op != "onnx::MatMul") return false;
    const auto chain = find_chain(last);
    if (!chain) return false;
    const std::unordered_set<std::size_t> members(group.begin(), group.end());
    double scale = 1.0;
    const auto query = source(operand(*chain->scores, 0), members, scale);
    const auto key = source(operand(*chain->scores, 1), members, scale);
    const auto made_value = producers_.find(chain->value);
    const bool value_outside =
        made_value == producers_.end() || !members.contains(made_value->second);
    if (!query || !key || !value_outside) return false;

    std::vector<Argument> arguments{
        {"", ValueRef{*query}}, {"", ValueRef{*key}}, {"", ValueRef{chain->value}}};
    if (chain->mask != no_value && is_causal(chain->mask))
      arguments.push_back({"is_causal", true});
    else if (chain->mask != no_value)
      arguments.push_back({"attn_mask", ValueRef{boolean_mask(chain->mask)}});
    arguments.push_back({"scale", scale});
    last.op = "aten::scaled_dot_product_attention";
    last.overload = "default";
    last.arguments = std::move(arguments);
    return true;
  }

  std::vector<bool> unread(std::vector<bool> candidates) const {
    std::unordered_map<ValueId, int> reads;
    const auto count = [&](const Node& node, int by) {
      for (const Argument& argument : node.arguments)
        for_each_value(argument, [&](ValueId id) { reads[id] += by; });
    };
    for (const Node& node : graph_.nodes) count(node, 1);
    for (const ValueId id : graph_.outputs) ++reads[id];
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      if (!candidates[i]) continue;
      for (const ValueId id : graph_.nodes[i].outputs)
        if (id != no_value && reads[id] > 0) candidates[i] = false;
      if (candidates[i]) count(graph_.nodes[i], -1);
    }
    return candidates;
  }

  Graph& graph_;
  std::unordered_map<ValueId, std::size_t> producers_;
  std::map<std::string, std::vector<std::size_t>> groups_;
};

}  // namespace

bool is_call_of(std::string_view call, std::string_view name) {
  if (!call.starts_with(name)) return false;
  call.remove_prefix(name.size());
  return call.empty() || (call.size() > 1 && call.front() == '_' &&
                          call.find_first_not_of("0123456789", 1) == call.npos);
}

void join_attention(Graph& graph, std::vector<std::string>& calls) {
  const std::vector<bool> gone = AttentionJoiner(graph, calls).run();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) continue;
    if (kept != i) {
      graph.nodes[kept] = std::move(graph.nodes[i]);
      calls[kept] = std::move(calls[i]);
    }
    ++kept;
  }
  graph.nodes.resize(kept);
  calls.resize(kept);
}

}  // namespace symprof::trace

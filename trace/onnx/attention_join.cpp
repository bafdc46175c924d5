#include "trace/onnx/attention_join.h"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/onnx/constant_number.h"

namespace symprof::trace {
namespace {

constexpr std::string_view attention_target = "scaled_dot_product_attention";
constexpr double lowest_bfloat16 = -3.3895313892515355e38;  // Above the lowest float32.

class AttentionJoiner {
 public:
  AttentionJoiner(Graph& graph, const std::vector<std::string>& calls,
                  const ExportedCalls& exported)
      : graph_(graph), uses_(graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!is_call_of(calls[i], attention_target)) continue;
      groups_[calls[i]].push_back(i);
      const auto call = exported.find(calls[i]);
      if (call != exported.end() && call_argument(call->second, 5, "is_causal") == "True")
        causal_.insert(calls[i]);
    }
  }

  /// By node: true if it may be removed when unused.
  std::vector<bool> run() {
    std::vector<bool> candidates(graph_.nodes.size(), false);
    for (const auto& [call, group] : groups_)
      if (join(group, causal_.contains(call)))
        for (std::size_t i = 0; i + 1 < group.size(); ++i) candidates[group[i]] = true;
    return candidates;
  }

 private:
  const Node* producer(ValueId id) const {
    const auto maker = uses_.maker(id);
    return maker ? &graph_.nodes[*maker] : nullptr;
  }

  std::optional<double> number(ValueId id) const { return constant_number(graph_, uses_, id); }

  /// The root of the default scale, 1 / sqrt(Gather(Shape(query), -1)) between casts, which only
  /// files without the exporter's optimizer compute (_attention_scale in
  /// onnxscript/function_libs/torch_lib/ops/nn.py).
  bool is_of_default_scale(ValueId id) const {
    for (const Node* node = producer(id); node != nullptr; node = producer(id)) {
      if (node->op == "onnx::Shape") return true;
      const bool divides = node->op == "onnx::Div";
      if (!divides && node->op != "onnx::Sqrt" && node->op != "onnx::CastLike" &&
          node->op != "onnx::Gather")
        return false;
      id = operand(*node, divides ? 1 : 0);
    }
    return false;
  }

  /// The operand before scaling and transposition: the first value, going back, that was not
  /// produced by the call. The default scale clears `scale`.
  std::optional<ValueId> source(ValueId id, const std::unordered_set<std::size_t>& group,
                                std::optional<double>& scale) const {
    while (id != no_value) {
      const auto maker = uses_.maker(id);
      if (!maker || !group.contains(*maker)) return id;
      const Node& node = graph_.nodes[*maker];
      if (node.op == "onnx::Mul") {
        const auto factor = number(operand(node, 1));
        if (factor && scale)
          *scale *= *factor;
        else if (is_of_default_scale(operand(node, 1)))
          scale.reset();
        else
          return std::nullopt;
      } else if (node.op != "onnx::Transpose" && node.op != "onnx::Reshape") {
        return std::nullopt;
      }
      id = operand(node, 0);
    }
    return std::nullopt;
  }

  /// The rank of a value, if its producer has it in attributes or constants; else 0.
  std::size_t rank_of(ValueId id) const {
    const Node* node = producer(id);
    if (node == nullptr) return 0;
    if (node->op == "onnx::Transpose")
      for (const Argument& argument : node->arguments)
        if (const auto* order = std::get_if<std::vector<std::int64_t>>(&argument.value))
          return order->size();
    if (node->op != "onnx::Reshape" && node->op != "onnx::Expand") return 0;
    const ValueId sizes = operand(*node, 1);
    if (sizes == no_value) return 0;
    const auto& spec = graph_.value(sizes).spec;
    return spec ? static_cast<std::size_t>(spec->numel()) : 0;
  }

  /// The key of `transposed`, the right operand of the scores' product. If a reshape precedes the
  /// call (e.g. of repeated heads), the exporter's optimizer merges it with the call's own: then
  /// only a value of the call has the key's shape, and the node that scales it is changed to undo
  /// the transposition.
  std::optional<ValueId> key_of(ValueId transposed, const std::unordered_set<std::size_t>& group,
                                std::optional<double>& scale) {
    const auto key = source(transposed, group, scale);
    const auto maker = uses_.maker(transposed);
    if (!key || *key == transposed || !maker) return key;
    Node& node = graph_.nodes[*maker];
    const std::size_t rank = rank_of(*key), wanted = rank_of(operand(node, 0));
    if (rank == wanted || rank == 0 || wanted != 4) return key;
    if (node.op != "onnx::Mul") return std::nullopt;
    node.op = "onnx::Transpose";
    node.arguments = {{"", ValueRef{operand(node, 0)}},
                      {"perm", std::vector<std::int64_t>{0, 1, 3, 2}}};
    return transposed;
  }

  /// The chain from the result back to the scores: products, softmax and the added mask.
  struct Chain {
    ValueId value = no_value, mask = no_value;
    ValueId masked = no_value;  // The scores with the mask added.
    const Node* scores = nullptr;
  };

  std::optional<Chain> find_chain(const Node& last) const {
    Chain chain{.value = operand(last, 1)};
    const Node* node = producer(operand(last, 0));
    // Without training_mode a dropout is a no-op; unoptimized files keep it.
    if (node != nullptr && node->op == "onnx::Dropout") node = producer(operand(*node, 0));
    // torchlib replaces the NaN of fully masked rows by 0.
    if (node != nullptr && node->op == "onnx::Where") node = producer(operand(*node, 2));
    if (node == nullptr || node->op != "onnx::Softmax") return std::nullopt;
    node = producer(operand(*node, 0));
    if (node != nullptr && node->op == "onnx::Add") {
      chain.masked = node->outputs[0];
      chain.mask = operand(*node, 1);
      node = producer(operand(*node, 0));
    }
    if (node == nullptr || node->op != "onnx::MatMul") return std::nullopt;
    chain.scores = node;
    return chain;
  }

  struct Origin {
    bool constants_alone = true, triangle = false;
  };

  Origin origin_of(ValueId mask) const {
    Origin origin;
    std::vector<ValueId> open{mask};
    std::unordered_set<ValueId> seen;
    while (!open.empty()) {
      const ValueId id = open.back();
      open.pop_back();
      if (id == no_value || !seen.insert(id).second) continue;
      const Node* node = producer(id);
      if (node == nullptr) {
        origin.constants_alone &= graph_.value(id).kind == ValueKind::constant;
        continue;
      }
      // The mask's sizes may depend on the shapes of queries and keys.
      if (node->op == "onnx::Shape") continue;
      origin.triangle |= node->op == "onnx::Trilu";
      for_each_value(*node, [&](ValueId input) { open.push_back(input); });
    }
    return origin;
  }

  /// Where(mask, 0, -inf or the lowest number) is a boolean mask.
  ValueId boolean_mask(ValueId mask) const {
    const Node* node = producer(mask);
    if (node == nullptr || node->op != "onnx::Where") return mask;
    const auto kept = number(operand(*node, 1)), hidden = number(operand(*node, 2));
    return kept && *kept == 0 && hidden && *hidden <= lowest_bfloat16 ? operand(*node, 0) : mask;
  }

  /// A constant lower triangle means is_causal. Any other constant mask is computed on the host,
  /// and moved to the device by the node that added it to the scores.
  Argument mask_argument(const Chain& chain) {
    const Origin origin = origin_of(chain.mask);
    if (origin.constants_alone && origin.triangle) return {"is_causal", true};
    const ValueId mask = boolean_mask(chain.mask);
    if (!origin.constants_alone) return {"attn_mask", ValueRef{mask}};
    Node& node = graph_.nodes[uses_.maker(chain.masked).value()];
    node.op = "aten::to";
    node.overload = "dtype_layout";
    node.arguments = {{"self", ValueRef{mask}}, {"device", DeviceName{"cuda:0"}}};
    return {"attn_mask", ValueRef{chain.masked}};
  }

  bool join(const std::vector<std::size_t>& group, bool is_causal) {
    Node& last = graph_.nodes[group.back()];
    if (last.op != "onnx::MatMul") return false;
    const auto chain = find_chain(last);
    if (!chain) return false;
    const std::unordered_set<std::size_t> members(group.begin(), group.end());
    std::optional<double> scale = 1.0;
    const auto query = source(operand(*chain->scores, 0), members, scale);
    const auto made_value = uses_.maker(chain->value);
    if (!query || (made_value && members.contains(*made_value))) return false;
    const auto key = key_of(operand(*chain->scores, 1), members, scale);
    if (!key) return false;

    std::vector<Argument> arguments{
        {"", ValueRef{*query}}, {"", ValueRef{*key}}, {"", ValueRef{chain->value}}};
    if (is_causal)
      arguments.push_back({"is_causal", true});
    else if (chain->mask != no_value)
      arguments.push_back(mask_argument(*chain));
    if (scale) arguments.push_back({"scale", *scale});
    last.op = "aten::scaled_dot_product_attention";
    last.overload = "default";
    last.arguments = std::move(arguments);
    return true;
  }

  Graph& graph_;
  const Uses uses_;  // From before the joins, which change consumers but not producers.
  std::map<std::string, std::vector<std::size_t>> groups_;
  std::set<std::string> causal_;  ///< Calls with is_causal.
};

/// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, …).
double dropout_of(const ExportedCall& call) {
  const std::string_view text = call_argument(call, 4, "dropout_p");
  double probability = 0;
  std::from_chars(text.data(), text.data() + text.size(), probability);
  return probability;
}

/// Restores dropouts of attention, and notes the modules without an attention node.
void put_dropout_back(Graph& graph, const std::vector<std::string>& calls,
                      const ExportedCalls& exported) {
  std::set<std::string> done;
  std::map<std::string, ScopeId> open;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto call = exported.find(calls[i]);
    if (call == exported.end() || !is_call_of(calls[i], attention_target)) continue;
    const double probability = dropout_of(call->second);
    if (probability == 0) continue;
    Node& node = graph.nodes[i];
    if (node.op == "aten::scaled_dot_product_attention" || node.op == "onnx::Attention") {
      node.arguments.push_back({"dropout_p", probability});
      done.insert(calls[i]);
    } else {
      open.try_emplace(calls[i], node.scope);
    }
  }
  for (const auto& [call, scope] : open)
    if (!done.contains(call))
      graph.export_record.lost_dropouts.push_back(
          graph.scopes[static_cast<std::size_t>(scope)].path);
}

}  // namespace

void join_attention(Graph& graph, std::vector<std::string>& calls, const ExportedCalls& exported) {
  erase_gone(calls, remove_unread(graph, AttentionJoiner(graph, calls, exported).run()));
  put_dropout_back(graph, calls, exported);
}

}  // namespace symprof::trace

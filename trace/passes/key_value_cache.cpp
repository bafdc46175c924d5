#include "trace/passes/key_value_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "trace/graph/edit.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

constexpr std::string_view aten_attention = "aten::scaled_dot_product_attention";
constexpr std::string_view onnx_attention = "onnx::Attention";

ValueId value_given(const Node& node, std::string_view name, std::size_t position) {
  return value_of(find_argument(node, name, position));
}

bool is_true(const Node& node, std::string_view name, std::size_t position) {
  const Argument* argument = find_argument(node, name, position);
  if (const auto* flag = argument_as<bool>(argument)) return *flag;
  const auto* number = argument_as<std::int64_t>(argument);
  return number != nullptr && *number != 0;
}

class CacheAdder {
 public:
  CacheAdder(Graph& graph, std::int64_t tokens, const SpecOf& spec_of)
      : graph_(graph), uses_(graph), edits_(graph), tokens_(tokens), spec_of_(spec_of) {}

  void run() {
    for (index_ = 0; index_ < graph_.nodes.size(); ++index_) {
      Node& node = graph_.nodes[index_];
      if (node.op == aten_attention) extend(node);
      if (node.op == onnx_attention) extend_onnx(node);
    }
    edits_.apply();
    if (graph_.kv_cache.tensors.empty()) throw no_attention();
    if (other_lengths_ > 0)
      graph_.warnings.push_back(fmt::format(
          "{} attention call{} keys of another number than queries (cross-attention): no cache.",
          other_lengths_, other_lengths_ == 1 ? " has" : "s have"));
  }

 private:
  Error no_attention() const {
    if (other_lengths_ > 0)
      return Error(graph_.path, "every attention has keys of another number than queries",
                   fmt::format("A graph with a cache among its inputs needs no {}: give the length "
                               "of its cache with {} or {}.",
                               setting("kv_cache"), setting("sizes"), setting("inputs")));
    return Error(graph_.path, "no attention takes a key-value cache",
                 "It has to be scaled_dot_product_attention (transformers: "
                 "attn_implementation=\"sdpa\"), not products and a softmax.");
  }

  /// The tokens of a self-attention over [batch, heads, tokens, size]; nothing for others.
  std::optional<std::int64_t> own_tokens(ValueId query, ValueId key) {
    const TensorSpec* queries = query == no_value ? nullptr : spec_of_(query);
    const TensorSpec* keys = key == no_value ? nullptr : spec_of_(key);
    if (queries == nullptr || keys == nullptr || queries->sizes.size() != attention_rank ||
        keys->sizes.size() != attention_rank)
      return std::nullopt;
    if (queries->sizes[tokens_dimension] != keys->sizes[tokens_dimension]) {
      ++other_lengths_;
      return std::nullopt;
    }
    graph_.kv_cache.sequences = keys->sizes[0];
    graph_.kv_cache.added_tokens = keys->sizes[tokens_dimension];
    return graph_.kv_cache.added_tokens;
  }

  void extend(Node& node) {
    const ValueId query = value_given(node, "query", 0);
    const ValueId key = value_given(node, "key", 1), value = value_given(node, "value", 2);
    const auto step_tokens = own_tokens(query, key);
    if (!step_tokens || value == no_value) return;
    const HeadSource own_key = source_of_heads(graph_, uses_, key, spec_of_);
    const HeadSource own_value = source_of_heads(graph_, uses_, value, spec_of_);
    for (const HeadSource& source : {own_key, own_value})
      for (const std::size_t node : source.nodes) edits_.remove_if_unread(node);
    // All of the cache first, as in DynamicLayer.update; then the copies for the query heads.
    const ValueId all_keys = appended(own_key.value, node, "key");
    const ValueId all_values = appended(own_value.value, node, "value");
    for (CachedTensor& tensor : graph_.kv_cache.tensors)
      if (tensor.present == all_keys) tensor.step_until = all_values;
    const bool wants_mask = is_true(node, "is_causal", 5) && *step_tokens > 1 && tokens_ > 0;
    std::int64_t copies = own_key.copies;
    if (wants_mask && copies == 1)
      copies = spec_of_(query)->sizes[heads_dimension] / spec_of_(key)->sizes[heads_dimension];
    set_argument(node, "key", 1, ValueRef{repeated(all_keys, copies, node, "key")});
    set_argument(node, "value", 2, ValueRef{repeated(all_values, copies, node, "value")});
    if (wants_mask && copies > 1) set_argument(node, "enable_gqa", 7, false);
    grow_mask(node, *step_tokens, wants_mask);
  }

  void grow_mask(Node& node, std::int64_t step_tokens, bool wants_mask) {
    const ValueId mask = value_given(node, "attn_mask", 3);
    if (wants_mask) {
      set_argument(node, "attn_mask", 3, ValueRef{causal_mask(step_tokens)});
    } else if (mask != no_value) {
      set_argument(node, "attn_mask", 3, ValueRef{padded(mask, step_tokens, node)});
    }
    if (tokens_ > 0 && find_argument(node, "is_causal", 5) != nullptr)
      set_argument(node, "is_causal", 5, false);
  }

  /// torch.cat([past, of the step], dim=-2), once for each tensor of keys or values.
  ValueId appended(ValueId id, const Node& attention, std::string_view what) {
    if (const auto known = present_.find(id); known != present_.end()) return known->second;
    TensorSpec spec = *spec_of_(id);
    const ValueId past = add_past(spec, what);
    const ValueId present =
        add_node({.name = fmt::format("{}_with_past_{}", attention.name, what),
                  .op = "aten::cat",
                  .overload = "default",
                  .arguments = {{"tensors", std::vector<ListElement>{ValueRef{past}, ValueRef{id}}},
                                {"dim", std::int64_t{tokens_dimension}}},
                  .scope = attention.scope,
                  .source = attention.source});
    graph_.kv_cache.tensors.push_back({past, id, present, present});
    present_[id] = present;
    return present;
  }

  ValueId add_past(TensorSpec spec, std::string_view what) {
    spec.sizes[tokens_dimension] = tokens_;
    spec.strides = contiguous_strides(spec.sizes);
    const ValueId past = graph_.add_value(
        {.name = fmt::format("past_{}_{}", what, graph_.kv_cache.tensors.size() / 2),
         .kind = ValueKind::input,
         .spec = std::move(spec)});
    graph_.inputs.push_back(past);
    return past;
  }

  /// As transformers' repeat_kv: a view of each head `copies` times, then a copy.
  ValueId repeated(ValueId id, std::int64_t copies, const Node& attention, std::string_view what) {
    if (copies == 1) return id;
    const auto step = [&](std::string_view op, ValueId self, std::vector<Argument> arguments) {
      arguments.insert(arguments.begin(), {"self", ValueRef{self}});
      return add_node({.name = fmt::format("{}_{}_{}", attention.name, op, what),
                       .op = fmt::format("aten::{}", op),
                       .overload = op == "flatten" ? "using_ints" : "default",
                       .arguments = std::move(arguments),
                       .scope = attention.scope,
                       .source = attention.source});
    };
    const ValueId apart = step("unsqueeze", id, {{"dim", std::int64_t{2}}});
    const ValueId expanded =
        step("expand", apart, {{"size", std::vector<std::int64_t>{-1, -1, copies, -1, -1}}});
    return step("flatten", expanded,
                {{"start_dim", std::int64_t{heads_dimension}}, {"end_dim", std::int64_t{2}}});
  }

  /// Cached tokens, before the keys of the step, are visible to all of its queries.
  ValueId padded(ValueId mask, std::int64_t step_tokens, const Node& attention) {
    if (const auto known = padded_.find(mask); known != padded_.end()) return known->second;
    const TensorSpec* spec = spec_of_(mask);
    if (spec == nullptr || spec->sizes.empty() || spec->sizes.back() != step_tokens || tokens_ == 0)
      return mask;
    return padded_[mask] = add_node(
               {.name = attention.name + "_mask_with_past",
                .op = "aten::constant_pad_nd",
                .overload = "default",
                .arguments = {{"self", ValueRef{mask}},
                              {"pad", std::vector<std::int64_t>{tokens_, 0}},
                              {"value", std::int64_t{spec->dtype == DType::boolean ? 1 : 0}}},
                .scope = attention.scope,
                .source = attention.source});
  }

  /// [batch, 1, tokens of the step, all tokens], as a view of one for the whole batch
  /// (transformers/masking_utils.py, sdpa_mask): PyTorch's own would begin at the first key.
  ValueId causal_mask(std::int64_t step_tokens) {
    if (mask_ != no_value) return mask_;
    const std::int64_t all_tokens = tokens_ + step_tokens;
    const auto add = [&](std::string name, std::string op, std::vector<Argument> arguments) {
      return ValueRef{edits_.insert_first({.name = std::move(name),
                                           .op = std::move(op),
                                           .overload = "default",
                                           .arguments = std::move(arguments)})};
    };
    using Sizes = std::vector<std::int64_t>;
    const ValueRef ones = add("causal_mask_ones", "aten::ones",
                              {{"size", Sizes{step_tokens, all_tokens}},
                               {"dtype", DType::boolean},
                               {"device", DeviceName{"cuda:0"}}});
    const ValueRef lower =
        add("causal_mask_lower", "aten::tril", {{"self", ones}, {"diagonal", tokens_}});
    mask_ = add("causal_mask", "aten::expand",
                {{"self", lower},
                 {"size", Sizes{graph_.kv_cache.sequences, 1, step_tokens, all_tokens}}})
                .id;
    return mask_;
  }

  /// For an operator with inputs for the cache and outputs for the updated cache (ONNX, from opset
  /// 23 on).
  void extend_onnx(Node& node) {
    constexpr std::size_t past_position = 4;
    if (value_given(node, "", past_position) != no_value) return;
    const ValueId key = value_given(node, "", 1), value = value_given(node, "", 2);
    const auto step_tokens = own_tokens(value_given(node, "", 0), key);
    if (!step_tokens || value == no_value) return;
    node.outputs.resize(std::max<std::size_t>(node.outputs.size(), 3), no_value);
    const std::array<std::pair<ValueId, std::string_view>, 2> of_step{
        {{key, "key"}, {value, "value"}}};
    for (std::size_t i = 0; i < of_step.size(); ++i) {
      ValueId& present = node.outputs[1 + i];
      if (present == no_value)
        present = graph_.add_value({.name = fmt::format("{}_present_{}", node.name, i)});
      const ValueId past = add_past(*spec_of_(of_step[i].first), of_step[i].second);
      set_input(node, past_position + i, ValueRef{past});
      graph_.kv_cache.tensors.push_back({past, of_step[i].first, present, present});
    }
    if (*step_tokens == 1) set_argument(node, "is_causal", past_position + 3, std::int64_t{0});
  }

  /// Inserts `node` before the attention whose turn it is.
  ValueId add_node(Node node) { return edits_.insert_before(index_, std::move(node)); }

  Graph& graph_;
  const Uses uses_;  // Before the changes: the attentions alone read other values then.
  NodeEdits edits_;
  std::size_t index_ = 0;  // The node of the attention whose turn it is.
  std::int64_t tokens_;
  const SpecOf& spec_of_;
  std::int64_t other_lengths_ = 0;
  ValueId mask_ = no_value;
  std::unordered_map<ValueId, ValueId> present_, padded_;
};

}  // namespace

void add_key_value_cache(Graph& graph, std::int64_t tokens, const SpecOf& spec_of) {
  graph.kv_cache = {.tokens = tokens};
  CacheAdder(graph, tokens, spec_of).run();
}

}  // namespace symprof::trace

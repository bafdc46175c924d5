// before                                                          after
//   attention from its parts (attentions.cpp), then
//   z = Reshape(Transpose(y)), heads into the last dimension      z = MultiHeadAttention(q', k, v,
//                                                                 bias), com.microsoft
//   … of keys and values repeated for groups of heads,            z = GroupQueryAttention(q', k',
//     with a constant causal mask                                 v', lengths), com.microsoft
// For a query whose keys are all masked by -inf, the operators give 0, and their parts give NaN.
#include <limits>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"
#include "workbench/optimize/rules/attention_parts.h"

namespace symprof::workbench::rules {
namespace {

/// The mask as numbers to add, of four dimensions; empty if not possible.
std::string added_mask(Editor& editor, int node, const AttentionParts& parts) {
  using Mask = AttentionParts::Mask;
  const Type type = editor.type(parts.mask);
  const DType dtype = editor.type(parts.q).dtype().value_or(DType::float32);
  if (!editor.constant(parts.mask)) {
    if (type.sizes->size() != 4) return {};
    if (parts.mask_is == Mask::added) return parts.mask;
    onnx::NodeProto made = node_of("Where");
    const double least = -std::numeric_limits<double>::infinity();
    const std::string hidden = editor.add_constant(make_constant(dtype, {}, {least}), "hidden"),
                      seen = editor.add_constant(make_constant(dtype, {}, {0}), "seen");
    const bool is_hidden = parts.mask_is == Mask::hidden;
    for (const std::string& input :
         {parts.mask, is_hidden ? hidden : seen, is_hidden ? seen : hidden})
      made.add_input(input);
    made.add_output(editor.fresh(parts.mask + "_bias"));
    std::string name = made.output(0);
    editor.add(std::move(made), node, Type{editor.type(parts.q).element, type.sizes});
    return name;
  }
  std::vector<double> numbers = mask_numbers(editor, parts.mask);
  if (numbers.empty()) return {};
  if (parts.mask_is != Mask::added)
    for (double& number : numbers)
      number = (number != 0) == (parts.mask_is == Mask::hidden)
                   ? -std::numeric_limits<double>::infinity()
                   : 0;
  std::vector<std::int64_t> sizes = type.numbers();
  sizes.insert(sizes.begin(), 4 - sizes.size(), 1);
  const ConstantPointer made = make_constant(dtype, sizes, numbers);
  return made ? editor.add_constant(made, parts.mask + "_bias") : std::string();
}

/// The Reshape that merges the heads of `value` into the last dimension; else -1.
int joined_heads(const Editor& editor, const std::string& value) {
  if (!editor.is_private(value)) return -1;
  const int transpose = editor.readers(value).front();
  if (!editor.is(transpose, "Transpose") ||
      integers(editor.node(transpose), "perm") != std::vector<std::int64_t>{0, 2, 1, 3})
    return -1;
  const std::string turned = editor.node(transpose).output(0);
  if (!editor.is_private(turned)) return -1;
  const int reshape = editor.readers(turned).front();
  const Type from = editor.type(turned), to = editor.type(editor.node(reshape).output(0));
  if (!editor.is(reshape, "Reshape") || !from.sizes || !to.sizes || to.sizes->size() != 3 ||
      !(*from.sizes)[0].same((*to.sizes)[0]) || !(*from.sizes)[1].same((*to.sizes)[1]))
    return -1;
  return reshape;
}

/// A value [batch, heads, length, size] with its heads merged into the last dimension.
std::string with_joined_heads(Editor& editor, int node, const std::string& q) {
  const Type type = editor.type(q);
  const auto& sizes = *type.sizes;
  const Size width{sizes[1].number * sizes[3].number, {}};
  const Type flat{type.element, std::vector<Size>{sizes[0], sizes[2], width}};
  std::string turned;
  if (const int transpose = editor.maker(q);
      editor.is(transpose, "Transpose") &&
      integers(editor.node(transpose), "perm") == std::vector<std::int64_t>{0, 2, 1, 3}) {
    turned = editor.node(transpose).input(0);
    const int reshape = editor.maker(turned);
    if (editor.is(reshape, "Reshape") && editor.type(editor.node(reshape).input(0)).same(flat))
      return editor.node(reshape).input(0);
  } else {
    onnx::NodeProto made = node_of("Transpose");
    set_integers(made, "perm", {0, 2, 1, 3});
    made.add_input(q);
    made.add_output(editor.fresh(q + "_turned"));
    turned = made.output(0);
    editor.add(std::move(made), node,
               Type{type.element, std::vector<Size>{sizes[0], sizes[2], sizes[1], sizes[3]}});
  }
  onnx::NodeProto made = node_of("Reshape");
  made.add_input(turned);
  made.add_input(editor.add_constant(make_integers({3}, {0, 0, width.number}), q + "_shape"));
  made.add_output(editor.fresh(q + "_flat"));
  std::string name = made.output(0);
  editor.add(std::move(made), node, flat);
  return name;
}

}  // namespace

bool multi_head_attention(Editor& editor, int node) {
  auto parts = attention_parts(editor, node);
  if (!parts || parts->scale <= 0) return false;
  const auto dtype = editor.type(parts->q).dtype();
  if (dtype != DType::float32 && dtype != DType::float16) return false;
  const bool has_heads = parts->key_order.size() == 4;
  const Type q = editor.type(parts->q);
  const int last = has_heads ? joined_heads(editor, editor.node(node).output(0)) : node;
  if (last < 0 || (has_heads && (!(*q.sizes)[1].is_known() || !(*q.sizes)[3].is_known())))
    return false;
  // ONNX Runtime requires equal head sizes of keys and values.
  const Type v = editor.type(parts->v);
  if (has_heads && !q.sizes->back().same(v.sizes->back())) return false;
  std::string mask;
  if (!parts->mask.empty() && (mask = added_mask(editor, node, *parts)).empty()) return false;
  std::vector<std::string> inputs{has_heads ? with_joined_heads(editor, node, parts->q) : parts->q,
                                  keys_of(editor, node, *parts), parts->v};
  if (!mask.empty()) inputs.insert(inputs.end(), {"", "", mask});
  onnx::NodeProto made = node_of("MultiHeadAttention", contrib_domain);
  set_integer(made, "num_heads", has_heads ? (*q.sizes)[1].number : 1);
  set_real(made, "scale", static_cast<float>(parts->scale));
  become(editor, last, std::move(made), inputs);
  return true;
}

namespace {

/// True if a constant mask of `length` queries and keys shows each query the keys up to its own.
bool is_causal(const Editor& editor, const AttentionParts& parts, std::int64_t length) {
  using Mask = AttentionParts::Mask;
  constexpr double least = -1e30;  // Added to a score, it makes the weight 0.
  const Type type = editor.type(parts.mask);
  const auto numbers = mask_numbers(editor, parts.mask);
  const auto side = static_cast<std::size_t>(length);
  if (!type.sizes || type.sizes->size() < 2 || numbers.empty() ||
      (*type.sizes)[type.sizes->size() - 2].number != length || numbers.size() % (side * side) != 0)
    return false;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool is_seen = i % side <= i / side % side;
    const double number = numbers[i];
    if (parts.mask_is == Mask::added ? number != 0 && (is_seen || number > least)
                                     : (number != 0) != (is_seen == (parts.mask_is == Mask::seen)))
      return false;
    if (parts.mask_is == Mask::added && !is_seen && number == 0) return false;
  }
  return true;
}

/// True for [batch, heads, length, size] with known numbers.
bool has_known_heads(const Type& type) { return type.is_static() && type.sizes->size() == 4; }

}  // namespace

bool group_query_attention(Editor& editor, int node) {
  auto parts = attention_parts(editor, node);
  if (!parts || parts->scale <= 0 || parts->mask.empty()) return false;
  const auto dtype = editor.type(parts->q).dtype();
  const Type q = editor.type(parts->q);
  if ((dtype != DType::float32 && dtype != DType::float16) || !has_known_heads(q)) return false;
  const std::int64_t batch = (*q.sizes)[0].number, length = (*q.sizes)[2].number;
  const int last = joined_heads(editor, editor.node(node).output(0));
  if (last < 0 || length < 1 || !is_causal(editor, *parts, length)) return false;
  const bool keys_in_order = parts->key_order == std::vector<std::int64_t>{0, 1, 2, 3};
  const std::string k = keys_in_order ? ungrouped(editor, parts->k) : "",
                    v = ungrouped(editor, parts->v);
  if (k.empty() || v.empty() || !editor.type(k).same(editor.type(v)) ||
      !has_known_heads(editor.type(k)) || !editor.type(k).sizes->back().same(q.sizes->back()) ||
      (*editor.type(k).sizes)[2].number != length)
    return false;
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch), length - 1);
  std::vector<std::string> inputs;
  for (const std::string& value : {parts->q, k, v})
    inputs.push_back(with_joined_heads(editor, node, value));
  inputs.insert(inputs.end(), {"", ""});
  inputs.push_back(editor.add_constant(make_integers({batch}, lengths, DType::int32), "lengths"));
  inputs.push_back(editor.add_constant(make_integers({1}, {length}, DType::int32), "total_length"));
  onnx::NodeProto made = node_of("GroupQueryAttention", contrib_domain);
  set_integer(made, "num_heads", (*q.sizes)[1].number);
  set_integer(made, "kv_num_heads", (*editor.type(k).sizes)[1].number);
  set_real(made, "scale", static_cast<float>(parts->scale));
  std::vector<std::string> caches;
  for (const char* name : {"_keys", "_values"}) {
    caches.push_back(editor.fresh(editor.node(last).output(0) + name));
    editor.set_type(caches.back(), editor.type(k));
  }
  become(editor, last, std::move(made), inputs, caches);
  return true;
}

}  // namespace symprof::workbench::rules

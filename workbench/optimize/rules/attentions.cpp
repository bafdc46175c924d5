// before                                                          after
//   s = MatMul(q, Transpose(k)), perhaps scaled by numbers
//   y = MatMul(Softmax(Add(s, mask)), v)                          y = Attention(q, k, v, mask),
//   from
//                                                                 opset 23 on
//   … Where(masked, -inf, s) …                                    … Not(masked)
//   … k = Reshape(Expand(Unsqueeze(k', 2))), v likewise           y = Attention(q, k', v', mask)
//   z = Reshape(Transpose(y)), heads into the last dimension      z = MultiHeadAttention(q', k, v,
//                                                                 bias), com.microsoft
// A query of which all keys are masked by -inf gets 0 from the operators, and NaN from their parts.
#include <algorithm>
#include <limits>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

struct AttentionParts {
  std::string q, k, v;  ///< [batch, heads, length, size], or [batch, length, size] of one head.
  std::vector<std::int64_t> key_order;  ///< By which k is permuted before it is one of those.
  std::string mask;                     ///< Added to scores, or where they count; may be empty.
  enum class Mask : std::uint8_t { none, added, hidden, seen } mask_is = Mask::none;
  Type scores;
  double scale = 1;
};

/// Takes a factor off `value`, where it is a number by which nobody else sees it multiplied.
std::string without_scale(const Editor& editor, const std::string& value, double& scale) {
  const int node = editor.maker(value);
  const bool divides = editor.is(node, "Div");
  if ((!divides && !editor.is(node, "Mul")) || !editor.is_private(value)) return value;
  const auto operand = with_number(editor, node);
  if (!operand || (divides && operand->side != 0) || operand->number == 0 ||
      !editor.type(operand->value).same(editor.type(value)))
    return value;
  scale *= divides ? 1 / operand->number : operand->number;
  return operand->value;
}

bool is_minus_infinity(const Editor& editor, const std::string& value) {
  return editor.number(value) == -std::numeric_limits<double>::infinity();
}

/// Whether a mask is as wide as the scores, and in other dimensions 1 or as long.
bool fits(const Type& mask, const Type& scores) {
  if (!mask.sizes || !scores.sizes || mask.sizes->size() < 2 ||
      mask.sizes->size() > scores.sizes->size() || !mask.sizes->back().same(scores.sizes->back()))
    return false;
  const std::size_t shift = scores.sizes->size() - mask.sizes->size();
  for (std::size_t i = 0; i < mask.sizes->size(); ++i) {
    const Size& size = (*mask.sizes)[i];
    const bool is_one = size.number == 1;
    // One head has no dimension of heads, which a mask of three dimensions would be taken to have.
    if (scores.sizes->size() == 3 && mask.sizes->size() == 3 && i == 0 && !is_one) return false;
    if (!is_one && !size.same((*scores.sizes)[i + shift])) return false;
  }
  return true;
}

/// The product of queries and keys behind `value`; -1 where there is none.
int scores_of(const Editor& editor, const std::string& value, double& scale) {
  double factor = scale;
  const int node = private_maker(editor, without_scale(editor, value, factor), "MatMul");
  if (node >= 0) scale = factor;
  return node;
}

/// Finds mask and product behind the operand of Softmax.
int take_mask(const Editor& editor, const std::string& value, AttentionParts& parts) {
  using Mask = AttentionParts::Mask;
  if (const int plain = scores_of(editor, value, parts.scale); plain >= 0) return plain;
  const int node = editor.maker(value);
  if (node < 0 || !editor.is_private(value)) return -1;
  const onnx::NodeProto& proto = editor.node(node);
  const bool chooses = editor.is(node, "Where");
  if (!chooses && !editor.is(node, "Add")) return -1;
  for (const int side : {0, 1}) {
    const int at = chooses ? side + 1 : side;
    const int product = scores_of(editor, proto.input(at), parts.scale);
    if (product < 0) continue;
    if (chooses && !is_minus_infinity(editor, proto.input(3 - at))) continue;
    parts.mask = chooses ? proto.input(0) : proto.input(1 - at);
    parts.mask_is = !chooses ? Mask::added : at == 2 ? Mask::hidden : Mask::seen;
    return product;
  }
  return -1;
}

std::optional<AttentionParts> attention_parts(const Editor& editor, int node) {
  if (!editor.is(node, "MatMul")) return std::nullopt;
  const onnx::NodeProto& proto = editor.node(node);
  const int softmax = private_maker(editor, proto.input(0), "Softmax");
  if (softmax < 0 || editor.opset() < 13 || !is_float(editor, proto.input(0)) ||
      !is_last_axis(editor, proto.input(0), integer(editor.node(softmax), "axis", -1)))
    return std::nullopt;
  AttentionParts parts{.v = proto.input(1)};
  const std::string scores = editor.node(softmax).input(0);
  if (!editor.is_private(scores)) return std::nullopt;
  const int product = take_mask(editor, scores, parts);
  if (product < 0) return std::nullopt;
  parts.scores = editor.type(editor.node(product).output(0));
  parts.q = without_scale(editor, editor.node(product).input(0), parts.scale);
  const std::string turned = without_scale(editor, editor.node(product).input(1), parts.scale);
  const int transpose = editor.maker(turned);
  if (!editor.is(transpose, "Transpose")) return std::nullopt;
  parts.k = editor.node(transpose).input(0);
  parts.key_order = integers(editor.node(transpose), "perm");
  const std::size_t rank = parts.key_order.size();
  if ((rank != 3 && rank != 4) || !is_permutation(parts.key_order) ||
      rank_of(editor, parts.q) != rank || rank_of(editor, parts.v) != rank ||
      rank_of(editor, parts.k) != rank || !parts.scores.sizes)
    return std::nullopt;
  std::swap(parts.key_order[rank - 1], parts.key_order[rank - 2]);
  if (!parts.mask.empty() && !fits(editor.type(parts.mask), parts.scores)) return std::nullopt;
  // Leading dimensions are those of queries in keys and values too: nothing is broadcast.
  const Type q = editor.type(parts.q), v = editor.type(parts.v), k = editor.type(parts.k);
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (!(*q.sizes)[i].same((*v.sizes)[i]) ||
        !(*q.sizes)[i].same((*k.sizes)[static_cast<std::size_t>(parts.key_order[i])]))
      return std::nullopt;
  return parts;
}

bool is_in_order(const std::vector<std::int64_t>& order) {
  return std::is_sorted(order.begin(), order.end());
}

/// Keys as the operators take them.
std::string keys_of(Editor& editor, int node, const AttentionParts& parts) {
  if (is_in_order(parts.key_order)) return parts.k;
  const Type from = editor.type(parts.k);
  Type type{from.element, std::vector<Size>()};
  for (const std::int64_t axis : parts.key_order)
    type.sizes->push_back((*from.sizes)[static_cast<std::size_t>(axis)]);
  onnx::NodeProto turn = node_of("Transpose");
  set_integers(turn, "perm", parts.key_order);
  turn.add_input(parts.k);
  turn.add_output(editor.fresh(parts.k + "_keys"));
  const std::string name = turn.output(0);
  editor.add(std::move(turn), node, type);
  return name;
}

/// What `value` repeats for each group of heads, [batch, fewer heads, length, size]; empty where it
/// repeats nothing.
std::string ungrouped(const Editor& editor, const std::string& value) {
  const int reshape = editor.maker(value);
  if (!editor.is(reshape, "Reshape")) return {};
  const std::string wide = editor.node(reshape).input(0);
  const int expand = editor.maker(wide);
  if (!editor.is(expand, "Expand")) return {};
  const int unsqueeze = editor.maker(editor.node(expand).input(0));
  const auto axes =
      editor.is(unsqueeze, "Unsqueeze") ? editor.integers_at(unsqueeze, 1, "axes") : std::nullopt;
  if (!axes || *axes != std::vector<std::int64_t>{2}) return {};
  const std::string source = editor.node(unsqueeze).input(0);
  const Type all = editor.type(value), groups = editor.type(wide), few = editor.type(source);
  if (!all.sizes || !groups.sizes || !few.sizes || all.sizes->size() != 4 ||
      groups.sizes->size() != 5 || few.sizes->size() != 4)
    return {};
  const auto& heads = (*all.sizes)[1];
  const bool is_grouped = (*few.sizes)[1].same((*groups.sizes)[1]) && heads.is_known() &&
                          (*groups.sizes)[1].is_known() && (*groups.sizes)[2].is_known() &&
                          heads.number == (*groups.sizes)[1].number * (*groups.sizes)[2].number;
  return is_grouped && (*few.sizes)[2].same((*all.sizes)[2]) &&
                 (*few.sizes)[3].same((*all.sizes)[3])
             ? source
             : std::string();
}

/// Numbers of a small constant mask as truths; empty for others.
std::vector<double> mask_numbers(const Editor& editor, const std::string& mask) {
  const ConstantPointer constant = editor.constant(mask);
  return constant && constant->spec.numel() <= 1 << 24 ? reals_of(*constant)
                                                       : std::vector<double>();
}

/// The mask as ONNX's operator takes it: where it is true, or no truth, it counts.
std::string standard_mask(Editor& editor, int node, const AttentionParts& parts) {
  using Mask = AttentionParts::Mask;
  if (parts.mask_is != Mask::hidden) return parts.mask;
  const auto numbers = mask_numbers(editor, parts.mask);
  if (!numbers.empty()) {
    std::vector<std::int64_t> seen;
    for (const double hidden : numbers) seen.push_back(hidden == 0);
    return editor.add_constant(
        make_integers(editor.type(parts.mask).numbers(), seen, DType::boolean),
        parts.mask + "_seen");
  }
  onnx::NodeProto made = node_of("Not");
  made.add_input(parts.mask);
  made.add_output(editor.fresh(parts.mask + "_seen"));
  const std::string name = made.output(0);
  editor.add(std::move(made), node, editor.type(parts.mask));
  return name;
}

}  // namespace

bool attention(Editor& editor, int node) {
  if (editor.opset() < 23) return false;
  auto parts = attention_parts(editor, node);
  if (!parts || parts->scale <= 0) return false;
  std::string k = keys_of(editor, node, *parts), v = parts->v;
  const std::string few_keys = ungrouped(editor, k), few_values = ungrouped(editor, v);
  if (!few_keys.empty() && !few_values.empty()) k = few_keys, v = few_values;
  std::vector<std::string> inputs{parts->q, k, v};
  if (!parts->mask.empty()) inputs.push_back(standard_mask(editor, node, *parts));
  onnx::NodeProto made = node_of("Attention");
  set_real(made, "scale", static_cast<float>(parts->scale));
  if (parts->key_order.size() == 3) {
    set_integer(made, "q_num_heads", 1);
    set_integer(made, "kv_num_heads", 1);
  }
  become(editor, node, std::move(made), inputs);
  return true;
}

namespace {

/// The mask as numbers to add, of four dimensions; empty where it cannot be that.
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
    const std::string name = made.output(0);
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

/// Where the heads of `value` go into the last dimension: that Reshape; -1 where they do not.
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

/// Queries with heads in the last dimension.
std::string queries_of(Editor& editor, int node, const std::string& q) {
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
  const std::string name = made.output(0);
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
  // ONNX Runtime takes keys and values with heads of one size alone.
  const Type v = editor.type(parts->v);
  if (has_heads && !q.sizes->back().same(v.sizes->back())) return false;
  std::string mask;
  if (!parts->mask.empty() && (mask = added_mask(editor, node, *parts)).empty()) return false;
  std::vector<std::string> inputs{has_heads ? queries_of(editor, node, parts->q) : parts->q,
                                  keys_of(editor, node, *parts), parts->v};
  if (!mask.empty()) inputs.insert(inputs.end(), {"", "", mask});
  onnx::NodeProto made = node_of("MultiHeadAttention", contrib_domain);
  set_integer(made, "num_heads", has_heads ? (*q.sizes)[1].number : 1);
  set_real(made, "scale", static_cast<float>(parts->scale));
  become(editor, last, std::move(made), inputs);
  return true;
}

}  // namespace symprof::workbench::rules

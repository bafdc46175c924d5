#include "workbench/optimize/rules/attention_parts.h"

#include <algorithm>
#include <limits>

#include "workbench/optimize/patterns.h"

namespace symprof::workbench::rules {
namespace {

/// Moves a constant factor of `value` into `scale`, if no other node reads the scaled value.
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

/// True if the mask broadcasts to the scores, with the full last dimension.
bool fits(const Type& mask, const Type& scores) {
  if (!mask.sizes || !scores.sizes || mask.sizes->size() < 2 ||
      mask.sizes->size() > scores.sizes->size() || !mask.sizes->back().same(scores.sizes->back()))
    return false;
  const std::size_t shift = scores.sizes->size() - mask.sizes->size();
  for (std::size_t i = 0; i < mask.sizes->size(); ++i) {
    const Size& size = (*mask.sizes)[i];
    const bool is_one = size.number == 1;
    // A single head has no head dimension, but a mask of three dimensions would be read as having
    // one.
    if (scores.sizes->size() == 3 && mask.sizes->size() == 3 && i == 0 && !is_one) return false;
    if (!is_one && !size.same((*scores.sizes)[i + shift])) return false;
  }
  return true;
}

/// The product of queries and keys that `value` scales; -1: none.
int scores_of(const Editor& editor, const std::string& value, double& scale) {
  double factor = scale;
  const int node = private_maker(editor, without_scale(editor, value, factor), "MatMul");
  if (node >= 0) scale = factor;
  return node;
}

/// Finds mask and product in the operand of Softmax. Returns the product; -1: none.
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

}  // namespace

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
  // Leading dimensions of keys and values are those of queries: no broadcast.
  const Type q = editor.type(parts.q), v = editor.type(parts.v), k = editor.type(parts.k);
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (!(*q.sizes)[i].same((*v.sizes)[i]) ||
        !(*q.sizes)[i].same((*k.sizes)[static_cast<std::size_t>(parts.key_order[i])]))
      return std::nullopt;
  return parts;
}

namespace {

bool is_in_order(const std::vector<std::int64_t>& order) {
  return std::is_sorted(order.begin(), order.end());
}

}  // namespace

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
  std::string name = turn.output(0);
  editor.add(std::move(turn), node, type);
  return name;
}

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

std::vector<double> mask_numbers(const Editor& editor, const std::string& mask) {
  const ConstantPointer constant = editor.constant(mask);
  return constant && constant->spec.numel() <= 1 << 24 ? reals_of(*constant)
                                                       : std::vector<double>();
}

}  // namespace symprof::workbench::rules

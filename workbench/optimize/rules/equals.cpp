// before                       after
//   a = MatMul(x, w)             a = MatMul(x, w)
//   b = MatMul(x, w)             b = a
//
//   b = Cast(Cast(x, wide), t)   b = Cast(x, t), where `wide` holds every number of x's dtype
#include <algorithm>
#include <string_view>

#include "workbench/optimize/attributes.h"
#include "workbench/optimize/rule.h"
#include "workbench/types.h"

namespace symprof::workbench::rules {
namespace {

constexpr std::string_view random_ops[] = {
    "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
    "Bernoulli",    "Multinomial",      "Dropout"};

bool has_subgraph(const onnx::NodeProto& node) {
  return std::any_of(
      node.attribute().begin(), node.attribute().end(),
      [](const onnx::AttributeProto& one) { return one.has_g() || one.graphs_size() > 0; });
}

std::string attributes_of(const onnx::NodeProto& node) {
  std::vector<std::string> texts;
  for (const onnx::AttributeProto& attribute : node.attribute())
    texts.push_back(attribute.SerializeAsString());
  std::sort(texts.begin(), texts.end());
  std::string all;
  for (const std::string& text : texts) all += text + '\n';
  return all;
}

bool are_equal(const onnx::NodeProto& a, const onnx::NodeProto& b) {
  return a.op_type() == b.op_type() && plain_domain(a.domain()) == plain_domain(b.domain()) &&
         a.overload() == b.overload() && a.input_size() == b.input_size() &&
         a.output_size() == b.output_size() &&
         std::equal(a.input().begin(), a.input().end(), b.input().begin()) &&
         attributes_of(a) == attributes_of(b);
}

/// True if `to` represents every number of `from`.
bool holds(DType from, DType to) {
  if (from == to) return true;
  if (is_floating_point(from))
    return (to == DType::float64 && element_bits(from) <= 64) ||
           (to == DType::float32 && (from == DType::float16 || from == DType::bfloat16));
  if (from == DType::boolean) return true;
  if (to == DType::int64) return from != DType::uint64;
  if (to == DType::float64) return element_bits(from) <= 32;
  return to == DType::int32 && element_bits(from) <= 16;
}

}  // namespace

bool merge_equal(Editor& editor, int node) {
  const onnx::NodeProto& proto = editor.node(node);
  if (proto.input_size() == 0 || has_subgraph(proto)) return false;
  for (const std::string_view op : random_ops)
    if (proto.op_type() == op) return false;
  if (proto.input(0).empty()) return false;
  for (const int other : std::vector<int>(editor.readers(proto.input(0)))) {
    if (other >= node || !are_equal(proto, editor.node(other))) continue;
    const onnx::NodeProto& first = editor.node(other);
    bool can = true;
    for (int i = 0; i < proto.output_size(); ++i)
      can &= proto.output(i).empty() ||
             (!first.output(i).empty() && !editor.is_pinned(proto.output(i)));
    if (!can) continue;
    for (int i = 0; i < proto.output_size(); ++i)
      if (!proto.output(i).empty())
        editor.replace(std::string(proto.output(i)), std::string(first.output(i)));
    editor.remove(node);
    return true;
  }
  return false;
}

bool merge_casts(Editor& editor, int node) {
  if (!editor.is(node, "Cast")) return false;
  const int inner = editor.maker(editor.node(node).input(0));
  if (!editor.is(inner, "Cast")) return false;
  const std::string source = editor.node(inner).input(0);
  const auto own = editor.type(source).dtype(),
             wide = editor.type(editor.node(node).input(0)).dtype();
  if (!own || !wide || !holds(*own, *wide)) return false;
  const bool last_reader = editor.is_private(editor.node(node).input(0));
  if (!last_reader) return false;
  editor.set_input(node, 0, source);
  editor.remove(inner);
  return true;
}

}  // namespace symprof::workbench::rules

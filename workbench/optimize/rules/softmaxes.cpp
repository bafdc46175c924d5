// before                                                    after
//   e = Exp(x)
//   y = Div(e, ReduceSum(e, axis))                            y = Softmax(x, axis)
//   y = Softmax(Sub(x, ReduceMax(x, axis)), axis)             y = Softmax(x, axis)
//   m = Mul(g, p)
//   y = Sub(m, Mul(p, ReduceSum(m, axis)))                    y = SoftmaxGrad_13(g, p, axis),
//                                                             com.microsoft's for training
#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// The axis that a reduction keeps as 1; empty where it reduces others too.
std::optional<std::int64_t> reduced_axis(const Editor& editor, const std::string& value,
                                         std::string_view op, const std::string& source) {
  const int node = editor.maker(value);
  if (!editor.is(node, op) || editor.node(node).input(0) != source ||
      integer(editor.node(node), "keepdims", 1) == 0)
    return std::nullopt;
  const auto axes = editor.integers_at(node, 1, "axes");
  const auto rank = static_cast<std::int64_t>(rank_of(editor, source));
  if (!axes || axes->size() != 1 || rank == 0) return std::nullopt;
  return axes->front() < 0 ? axes->front() + rank : axes->front();
}

}  // namespace

bool softmax_of_parts(Editor& editor, int node) {
  if (!editor.is(node, "Div") || editor.opset() < 13) return false;
  const std::string power = editor.node(node).input(0), sum = editor.node(node).input(1);
  const int exp = editor.maker(power);
  if (!editor.is(exp, "Exp") || !is_float(editor, power) || editor.is_pinned(power) ||
      !editor.is_private(sum) || editor.readers(power).size() != 2)
    return false;
  const auto axis = reduced_axis(editor, sum, "ReduceSum", power);
  if (!axis) return false;
  onnx::NodeProto made = node_of("Softmax");
  set_integer(made, "axis", *axis);
  become(editor, node, std::move(made), {editor.node(exp).input(0)});
  return true;
}

bool softmax_of_shifted(Editor& editor, int node) {
  if (!editor.is(node, "Softmax") || editor.opset() < 13) return false;
  const int shift = private_maker(editor, editor.node(node).input(0), "Sub");
  if (shift < 0) return false;
  const std::string x = editor.node(shift).input(0);
  const std::int64_t axis = integer(editor.node(node), "axis", -1);
  const auto rank = static_cast<std::int64_t>(rank_of(editor, x));
  if (reduced_axis(editor, editor.node(shift).input(1), "ReduceMax", x) !=
      (axis < 0 ? axis + rank : axis))
    return false;
  onnx::NodeProto made = node_of("Softmax");
  set_integer(made, "axis", axis);
  become(editor, node, std::move(made), {x});
  return true;
}

bool softmax_gradient(Editor& editor, int node) {
  if (!editor.is(node, "Sub")) return false;
  const std::string weighted = editor.node(node).input(0);
  const int product = editor.maker(weighted),
            mean = private_maker(editor, editor.node(node).input(1), "Mul");
  if (!editor.is(product, "Mul") || mean < 0 || editor.readers(weighted).size() != 2 ||
      editor.is_pinned(weighted))
    return false;
  for (const int side : {0, 1}) {
    const std::string sum = editor.node(mean).input(side), y = editor.node(mean).input(1 - side);
    const auto axis = reduced_axis(editor, sum, "ReduceSum", weighted);
    if (!axis || !editor.is_private(sum) || !editor.type(y).same(editor.type(weighted))) continue;
    for (const int which : {0, 1}) {
      const std::string gradient = editor.node(product).input(1 - which);
      if (editor.node(product).input(which) != y || !editor.type(gradient).same(editor.type(y)))
        continue;
      onnx::NodeProto made = node_of("SoftmaxGrad_13", contrib_domain);
      set_integer(made, "axis", *axis);
      become(editor, node, std::move(made), {gradient, y});
      return true;
    }
  }
  return false;
}

}  // namespace symprof::workbench::rules

// before                                                    after
//   e = Exp(x)
//   y = Div(e, ReduceSum(e, axis))                            y = Softmax(x, axis)
//   y = Softmax(Sub(x, ReduceMax(x, axis)), axis)             y = Softmax(x, axis)
//   m = Mul(g, p)
//   y = Sub(m, Mul(p, ReduceSum(m, axis)))                    y = SoftmaxGrad_13(g, p, axis),
//                                                             com.microsoft's for training
//   y = Softmax(Add(x, bias), axis=-1)                        y = BiasSoftmax(x, bias),
//   com.microsoft
#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// The only axis of a reduction, kept as 1; empty if it reduces others too.
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

namespace {

/// How a bias broadcasts, in all axes but the last: full size in leading axes and 1 in the others,
/// or the reverse (onnxruntime, core/optimizer/bias_softmax_fusion.cc). Empty if neither holds.
std::optional<bool> is_inner_broadcast(const Type& x, const Type& bias) {
  if (!x.sizes || !bias.sizes || x.sizes->empty() || bias.sizes->empty() ||
      bias.sizes->size() > x.sizes->size() || !bias.sizes->back().same(x.sizes->back()))
    return std::nullopt;
  const std::size_t axes = x.sizes->size() - 1, shift = x.sizes->size() - bias.sizes->size();
  const auto size = [&](std::size_t i) {
    return i < shift ? Size{1, {}} : (*bias.sizes)[i - shift];
  };
  std::size_t ones_first = 0, same_first = 0;
  while (ones_first < axes && size(ones_first).number == 1) ++ones_first;
  while (same_first < axes && size(same_first).same((*x.sizes)[same_first])) ++same_first;
  bool is_outer = true, is_inner = true;
  for (std::size_t i = ones_first; i < axes; ++i) is_outer &= size(i).same((*x.sizes)[i]);
  for (std::size_t i = same_first; i < axes; ++i) is_inner &= size(i).number == 1;
  if (!is_inner && !is_outer) return std::nullopt;
  return is_inner;
}

}  // namespace

bool bias_softmax(Editor& editor, int node) {
  if (!editor.is(node, "Softmax") || editor.opset() < 13) return false;
  const std::string sum = editor.node(node).input(0);
  const int add = private_maker(editor, sum, "Add");
  if (add < 0 || !is_last_axis(editor, sum, integer(editor.node(node), "axis", -1))) return false;
  for (const int side : {0, 1}) {
    const std::string x = editor.node(add).input(side), bias = editor.node(add).input(1 - side);
    if (!editor.type(x).same(editor.type(sum))) continue;
    const auto is_inner = is_inner_broadcast(editor.type(x), editor.type(bias));
    if (!is_inner) continue;
    onnx::NodeProto made = node_of("BiasSoftmax", contrib_domain);
    set_integer(made, "axis", static_cast<std::int64_t>(rank_of(editor, sum)) - 1);
    set_integer(made, "is_inner_broadcast", *is_inner);
    become(editor, node, std::move(made), {x, bias});
    return true;
  }
  return false;
}

}  // namespace symprof::workbench::rules

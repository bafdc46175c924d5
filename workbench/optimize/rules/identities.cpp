// before                                   after
//   y = Identity(x), Dropout(x)              y = x
//   y = Cast(x) to the dtype of x            y = x
//   y = Reshape, Expand, Squeeze, Unsqueeze,
//       Slice, Flatten, Tile, Pad(x)         y = x, where y has the type of x
//   y = Transpose(x) by [0, 1, 2]            y = x
//   y = Concat(x), Sum(x), Max(x)            y = x
//   y = Add(x, 0), Sub(x, 0),
//       Mul(x, 1), Div(x, 1), Pow(x, 1)      y = x
//   y unread                                 (nothing)
#include <algorithm>

#include "workbench/optimize/attributes.h"
#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"
#include "workbench/types.h"

namespace symprof::workbench::rules {
namespace {

bool is_any(const Editor& editor, int node, std::initializer_list<std::string_view> ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [&](std::string_view op) { return editor.is(node, op); });
}

bool has_unused_outputs_but_first(const Editor& editor, const onnx::NodeProto& node) {
  for (int i = 1; i < node.output_size(); ++i)
    if (!editor.readers(node.output(i)).empty() || editor.is_pinned(node.output(i))) return false;
  return true;
}

/// True for Dropout in inference: without a training_mode that enables it.
bool is_dropout_off(const Editor& editor, int node) {
  if (!editor.is(node, "Dropout") || editor.opset() < 7) return false;
  const onnx::NodeProto& proto = editor.node(node);
  if (proto.input_size() < 3 || proto.input(2).empty()) return true;
  const auto training = editor.number(proto.input(2));
  return training && *training == 0;
}

bool is_transpose_of_nothing(const Editor& editor, int node) {
  if (!editor.is(node, "Transpose")) return false;
  const auto perm = integers(editor.node(node), "perm");
  if (perm.empty()) return false;
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

/// True for moves that are the identity if no size changes. Slice may reverse, and Pad may cut on
/// one side what it adds on the other: for both the numbers are checked.
bool is_move_of_nothing(const Editor& editor, int node) {
  if (!is_any(editor, node,
              {"Reshape", "Expand", "Squeeze", "Unsqueeze", "Slice", "Flatten", "Tile", "Pad"}))
    return false;
  const onnx::NodeProto& proto = editor.node(node);
  if (!editor.type(proto.input(0)).same(editor.type(proto.output(0)))) return false;
  const auto all = [&](int input, auto test) {
    if (proto.input_size() <= input || proto.input(input).empty()) return true;
    const ConstantPointer value = editor.constant(proto.input(input));
    if (!value) return false;
    const auto numbers = integers_of(*value);
    return std::all_of(numbers.begin(), numbers.end(), test);
  };
  if (editor.is(node, "Slice")) return all(4, [](std::int64_t step) { return step > 0; });
  if (editor.is(node, "Pad"))
    return proto.input_size() > 1 && all(1, [](std::int64_t width) { return width == 0; });
  return true;
}

bool is_cast_of_nothing(const Editor& editor, int node) {
  if (!is_any(editor, node, {"Cast", "CastLike"})) return false;
  const std::int32_t own = editor.type(editor.node(node).input(0)).element;
  const std::int32_t wanted = editor.is(node, "Cast")
                                  ? static_cast<std::int32_t>(integer(editor.node(node), "to", 0))
                                  : editor.type(editor.node(node).input(1)).element;
  return own != 0 && own == wanted;
}

}  // namespace

bool drop_dead(Editor& editor, int node) {
  for (const std::string& output : editor.node(node).output())
    if (!output.empty() && (!editor.readers(output).empty() || editor.is_pinned(output)))
      return false;
  editor.remove(node);
  return true;
}

bool drop_identity(Editor& editor, int node) {
  const onnx::NodeProto& proto = editor.node(node);
  if (proto.input_size() == 0 || proto.input(0).empty() || proto.output_size() == 0) return false;
  if (!has_unused_outputs_but_first(editor, proto)) return false;
  const bool of_one =
      proto.input_size() == 1 && is_any(editor, node, {"Concat", "Sum", "Max", "Min", "Mean"});
  const bool is_identity = editor.is(node, "Identity") || is_dropout_off(editor, node) ||
                           is_transpose_of_nothing(editor, node) ||
                           is_move_of_nothing(editor, node) || is_cast_of_nothing(editor, node) ||
                           of_one;
  return is_identity && pass(editor, node, std::string(proto.input(0)));
}

bool drop_neutral(Editor& editor, int node) {
  const onnx::NodeProto& proto = editor.node(node);
  if (proto.input_size() != 2 || !is_any(editor, node, {"Add", "Sub", "Mul", "Div", "Pow"}))
    return false;
  const double neutral = is_any(editor, node, {"Add", "Sub"}) ? 0 : 1;
  const bool commutes = is_any(editor, node, {"Add", "Mul"});
  for (const int side : {1, 0}) {
    if (side == 0 && !commutes) break;
    const ConstantPointer constant = editor.constant(proto.input(side));
    if (!constant || constant->spec.numel() > 4096 || constant->spec.numel() == 0) continue;
    const auto numbers = reals_of(*constant);
    // x + (-0.0) is x for every x, and 0.0 + -0.0 is 0.0: a sum with 0 loses the sign of -0 alone.
    if (numbers.empty() || !std::all_of(numbers.begin(), numbers.end(),
                                        [&](double number) { return number == neutral; }))
      continue;
    const std::string other = proto.input(1 - side);
    if (editor.type(other).same(editor.type(proto.output(0)))) return pass(editor, node, other);
  }
  return false;
}

}  // namespace symprof::workbench::rules

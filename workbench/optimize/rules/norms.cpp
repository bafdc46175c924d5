// before                                              after
//   v = ReduceMean(Pow(x, 2), axes=-1)
//   y = Mul(w, Div(x, Sqrt(Add(v, eps))))              y = SimplifiedLayerNormalization(x, w),
//                                                      RMSNormalization from opset 23 on
//   y = Div(x, Sqrt(Add(v, eps)))                      the same, with a scale of ones
//   d = Sub(x, ReduceMean(x, axes=-1))
//   v = ReduceMean(Pow(d, 2), axes=-1)
//   y = Add(Mul(Div(d, Sqrt(Add(v, eps))), w), b)      y = LayerNormalization(x, w, b)
//   y = Mul(Div(d, Sqrt(Add(v, eps))), w)              y = LayerNormalization(x, w)
//   s = Add(a, b)
//   y = SimplifiedLayerNormalization(s, w)             y, , , s =
//                                                        SkipSimplifiedLayerNormalization(a, b, w)
//   y = LayerNormalization(s, w, c)                    y, , , s =
//                                                        SkipLayerNormalization(a, b, w, c)
#include "workbench/optimize/attributes.h"
#include "workbench/optimize/rule.h"
#include "workbench/types.h"

namespace symprof::workbench::rules {
namespace {

/// The node of a mean over the last axis alone that makes `value`; else -1.
int last_axis_mean(const Editor& editor, const std::string& value) {
  const int node = editor.maker(value);
  if (!editor.is(node, "ReduceMean") || integer(editor.node(node), "keepdims", 1) == 0) return -1;
  const auto axes = editor.integers_at(node, 1, "axes");
  const Type type = editor.type(editor.node(node).input(0));
  if (!axes || axes->size() != 1 || !type.sizes) return -1;
  const auto rank = static_cast<std::int64_t>(type.sizes->size());
  return axes->front() == -1 || axes->front() == rank - 1 ? node : -1;
}

/// The operand that `value` is the square of; else empty.
std::string square_root_of(const Editor& editor, const std::string& value) {
  const int node = editor.maker(value);
  if (editor.is(node, "Mul") && editor.node(node).input(0) == editor.node(node).input(1))
    return editor.node(node).input(0);
  if (!editor.is(node, "Pow") || editor.number(editor.node(node).input(1)) != 2.0) return {};
  return editor.node(node).input(0);
}

struct Variance {
  std::string of;
  double epsilon = 0;
};

/// Sqrt(ReduceMean(x²) + epsilon).
std::optional<Variance> deviation_of(const Editor& editor, const std::string& value) {
  const int root = editor.maker(value);
  if (!editor.is(root, "Sqrt")) return std::nullopt;
  const int sum = editor.maker(editor.node(root).input(0));
  if (!editor.is(sum, "Add")) return std::nullopt;
  for (const int side : {0, 1}) {
    const auto epsilon = editor.number(editor.node(sum).input(side));
    const int mean = last_axis_mean(editor, editor.node(sum).input(1 - side));
    if (!epsilon || mean < 0) continue;
    const std::string source = square_root_of(editor, editor.node(mean).input(0));
    if (!source.empty()) return Variance{source, *epsilon};
  }
  return std::nullopt;
}

/// True if `scale` is a weight of the last axis of `value`.
bool is_scale(const Editor& editor, const std::string& scale, const std::string& value) {
  const Type own = editor.type(scale), type = editor.type(value);
  return own.sizes && own.sizes->size() == 1 && type.sizes && !type.sizes->empty() &&
         own.element == type.element && own.sizes->front().same(type.sizes->back());
}

/// The other operand of a product or sum with `value`, if it is a scale of it.
std::string scale_in(const Editor& editor, int node, const std::string& normed,
                     const std::string& of) {
  for (const int side : {0, 1})
    if (editor.node(node).input(side) == normed &&
        is_scale(editor, editor.node(node).input(1 - side), of))
      return editor.node(node).input(1 - side);
  return {};
}

void emit_norm(Editor& editor, int node, const char* op, const std::vector<std::string>& inputs,
               double epsilon) {
  onnx::NodeProto made;
  made.set_op_type(op);
  for (const std::string& input : inputs) made.add_input(input);
  made.add_output(editor.node(node).output(0));
  set_integer(made, "axis", -1);
  set_real(made, "epsilon", static_cast<float>(epsilon));
  const onnx::NodeProto old = editor.node(node);
  editor.remove(node);
  editor.add(made, node);
  editor.drop_unread(old);
}

/// True if all that reads the quotient is its product with a scale of `source`.
bool is_scaled(const Editor& editor, const std::string& normed, const std::string& source) {
  if (!editor.is_private(normed)) return false;
  const int reader = editor.readers(normed).front();
  return editor.is(reader, "Mul") && !scale_in(editor, reader, normed, source).empty();
}

/// A norm without a scale, which the operator needs: one of ones.
bool unscaled_root_mean_square(Editor& editor, int quotient, const char* op) {
  const std::string source = editor.node(quotient).input(0);
  const std::string divisor = editor.node(quotient).input(1);
  const auto deviation = deviation_of(editor, divisor);
  if (!deviation || deviation->of != source || !editor.is_private(divisor)) return false;
  if (is_scaled(editor, editor.node(quotient).output(0), source)) return false;
  const Type type = editor.type(source);
  const auto dtype = type.dtype();
  if (!dtype || !is_floating_point(*dtype) || !type.sizes || type.sizes->empty() ||
      !type.sizes->back().is_known())
    return false;
  const std::int64_t size = type.sizes->back().number;
  const ConstantPointer ones =
      make_constant(*dtype, {size}, std::vector<double>(static_cast<std::size_t>(size), 1.0));
  if (!ones) return false;
  emit_norm(editor, quotient, op, {source, editor.add_constant(ones, source + "_scale")},
            deviation->epsilon);
  return true;
}

bool root_mean_square(Editor& editor, int node, const char* op) {
  if (editor.is(node, "Div")) return unscaled_root_mean_square(editor, node, op);
  if (!editor.is(node, "Mul")) return false;
  for (const int side : {0, 1}) {
    const std::string normed = editor.node(node).input(side);
    const int quotient = editor.maker(normed);
    if (!editor.is(quotient, "Div") || !editor.is_private(normed)) continue;
    const std::string source = editor.node(quotient).input(0);
    const auto deviation = deviation_of(editor, editor.node(quotient).input(1));
    if (!deviation || deviation->of != source || !editor.is_private(editor.node(quotient).input(1)))
      continue;
    const std::string scale = scale_in(editor, node, normed, source);
    if (scale.empty()) continue;
    emit_norm(editor, node, op, {source, scale}, deviation->epsilon);
    return true;
  }
  return false;
}

}  // namespace

bool root_mean_square_norm(Editor& editor, int node) {
  return root_mean_square(editor, node, "SimplifiedLayerNormalization");
}

bool root_mean_square_norm_23(Editor& editor, int node) {
  return editor.opset() >= 23 && root_mean_square(editor, node, "RMSNormalization");
}

namespace {

struct Normed {
  std::string of, scale;
  double epsilon = 0;
};

/// (x - mean) / deviation, scaled by a weight of the last axis.
std::optional<Normed> scaled_norm(const Editor& editor, int product) {
  if (!editor.is(product, "Mul")) return std::nullopt;
  for (const int which : {0, 1}) {
    const std::string normed = editor.node(product).input(which);
    const int quotient = editor.maker(normed);
    if (!editor.is(quotient, "Div") || !editor.is_private(normed)) continue;
    const std::string centered = editor.node(quotient).input(0);
    const auto deviation = deviation_of(editor, editor.node(quotient).input(1));
    const int difference = editor.maker(centered);
    if (!deviation || deviation->of != centered || !editor.is(difference, "Sub")) continue;
    const std::string source = editor.node(difference).input(0);
    const int mean = last_axis_mean(editor, editor.node(difference).input(1));
    if (mean < 0 || editor.node(mean).input(0) != source) continue;
    const std::string scale = scale_in(editor, product, normed, source);
    if (!scale.empty()) return Normed{source, scale, deviation->epsilon};
  }
  return std::nullopt;
}

}  // namespace

bool layer_norm(Editor& editor, int node) {
  if (!editor.is(node, "Add") || editor.opset() < 17) return false;
  for (const int side : {0, 1}) {
    const std::string scaled = editor.node(node).input(side);
    if (!editor.is_private(scaled)) continue;
    const auto norm = scaled_norm(editor, editor.maker(scaled));
    const std::string bias = norm ? scale_in(editor, node, scaled, norm->of) : std::string();
    if (bias.empty()) continue;
    emit_norm(editor, node, "LayerNormalization", {norm->of, norm->scale, bias}, norm->epsilon);
    return true;
  }
  return false;
}

bool layer_norm_without_bias(Editor& editor, int node) {
  if (editor.opset() < 17) return false;
  const auto norm = scaled_norm(editor, node);
  if (!norm) return false;
  emit_norm(editor, node, "LayerNormalization", {norm->of, norm->scale}, norm->epsilon);
  return true;
}

bool skip_norm(Editor& editor, int node) {
  const bool simple = editor.is(node, "SimplifiedLayerNormalization");
  if (!simple && !editor.is(node, "LayerNormalization")) return false;
  const onnx::NodeProto norm = editor.node(node);
  const std::string& sum = norm.input(0);
  const int add = editor.maker(sum);
  if (!editor.is(add, "Add") || norm.output_size() != 1) return false;
  const std::string a = editor.node(add).input(0), b = editor.node(add).input(1);
  const Type type = editor.type(sum);
  // The operator requires operands of one shape, [batch, length, hidden] or [tokens, hidden].
  if (!type.sizes || type.sizes->size() != 3 || !type.same(editor.type(a)) ||
      !type.same(editor.type(b)))
    return false;
  const std::int64_t axis = integer(norm, "axis", -1);
  if (axis != -1 && axis != 2) return false;
  onnx::NodeProto made;
  made.set_op_type(simple ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization");
  made.set_domain(contrib_domain);
  for (const std::string& input : {a, b}) made.add_input(input);
  for (int i = 1; i < norm.input_size(); ++i) made.add_input(norm.input(i));
  made.add_output(norm.output(0));
  if (!editor.is_private(sum)) {
    made.add_output("");
    made.add_output("");
    made.add_output(sum);
  }
  set_real(made, "epsilon", real(norm, "epsilon", 1e-5F));
  editor.remove(node);
  editor.remove(add);
  editor.add(made, node);
  return true;
}

}  // namespace symprof::workbench::rules

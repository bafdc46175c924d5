// before                                      after
//   y = Mul(x, Reciprocal(Sqrt(v)))             y = Div(x, Sqrt(v))
//   y = Mul(x, Div(1, Sqrt(v)))                 y = Div(x, Sqrt(v))
//   y = MatMul(Transpose(a), Transpose(b))      y = Gemm(a, b, transA=1, transB=1), two dimensions
#include "workbench/optimize/attributes.h"
#include "workbench/optimize/rule.h"
#include "workbench/types.h"

namespace symprof::workbench::rules {
namespace {

bool is_two_dimensional(const Editor& editor, const std::string& value) {
  const Type type = editor.type(value);
  return type.sizes && type.sizes->size() == 2;
}

/// The Transpose of a matrix with a single reader that makes `value`; else -1.
int swap_of(const Editor& editor, const std::string& value) {
  const int node = editor.maker(value);
  if (!editor.is(node, "Transpose") || !editor.is_private(value)) return -1;
  const auto perm = integers(editor.node(node), "perm");
  return perm.empty() || perm == std::vector<std::int64_t>{1, 0} ? node : -1;
}

}  // namespace

bool divide_by_root(Editor& editor, int node) {
  if (!editor.is(node, "Mul")) return false;
  for (const int side : {0, 1}) {
    const std::string inverse = editor.node(node).input(side),
                      other = editor.node(node).input(1 - side);
    const int reciprocal = editor.maker(inverse);
    if (!editor.is_private(inverse)) continue;
    const bool divides =
        editor.is(reciprocal, "Div") && editor.number(editor.node(reciprocal).input(0)) == 1.0;
    if (!divides && !editor.is(reciprocal, "Reciprocal")) continue;
    const std::string root = editor.node(reciprocal).input(divides ? 1 : 0);
    if (!editor.is(editor.maker(root), "Sqrt")) continue;
    if (!editor.type(inverse).same(editor.type(root))) continue;
    onnx::NodeProto made;
    made.set_op_type("Div");
    made.add_input(other);
    made.add_input(root);
    made.add_output(editor.node(node).output(0));
    editor.remove(node);
    editor.remove(reciprocal);
    editor.add(made, node);
    return true;
  }
  return false;
}

bool transpose_into_gemm(Editor& editor, int node) {
  const bool product = editor.is(node, "MatMul");
  if (!product && !editor.is(node, "Gemm")) return false;
  const onnx::NodeProto old = editor.node(node);
  if (!is_two_dimensional(editor, old.input(0)) || !is_two_dimensional(editor, old.input(1)))
    return false;
  const auto dtype = editor.type(old.input(0)).dtype();
  if (!dtype || !is_floating_point(*dtype)) return false;
  const int left = swap_of(editor, old.input(0)), right = swap_of(editor, old.input(1));
  if (left < 0 && right < 0) return false;
  onnx::NodeProto made;
  made.set_op_type("Gemm");
  made.add_input(left < 0 ? old.input(0) : editor.node(left).input(0));
  made.add_input(right < 0 ? old.input(1) : editor.node(right).input(0));
  if (old.input_size() > 2) made.add_input(old.input(2));
  made.add_output(old.output(0));
  set_integer(made, "transA", integer(old, "transA", 0) ^ (left >= 0));
  set_integer(made, "transB", integer(old, "transB", 0) ^ (right >= 0));
  if (!product) {
    set_real(made, "alpha", real(old, "alpha", 1));
    set_real(made, "beta", real(old, "beta", 1));
  }
  editor.remove(node);
  if (left >= 0) editor.remove(left);
  if (right >= 0 && right != left) editor.remove(right);
  editor.add(made, node);
  return true;
}

namespace {

/// `node`, a product of matrices, with `value` read through a further transposition.
onnx::NodeProto gemm_reading(const Editor& editor, int node, const std::string& value,
                             const std::string& source) {
  const onnx::NodeProto& old = editor.node(node);
  const bool product = editor.is(node, "MatMul");
  onnx::NodeProto made = old;
  made.set_op_type("Gemm");
  made.clear_attribute();
  for (const int side : {0, 1}) {
    const char* name = side == 0 ? "transA" : "transB";
    const bool swaps = old.input(side) == value;
    if (swaps) made.set_input(side, source);
    set_integer(made, name, integer(old, name, 0) ^ swaps);
  }
  if (product) return made;
  set_real(made, "alpha", real(old, "alpha", 1));
  set_real(made, "beta", real(old, "beta", 1));
  return made;
}

}  // namespace

bool shared_transpose_into_gemm(Editor& editor, int node) {
  if (!editor.is(node, "Transpose")) return false;
  const std::string value = editor.node(node).output(0), source = editor.node(node).input(0);
  const std::vector<int> readers = editor.readers(value);
  const auto dtype = editor.type(value).dtype();
  if (editor.is_pinned(value) || readers.empty() || !dtype || !is_floating_point(*dtype) ||
      !is_two_dimensional(editor, value))
    return false;
  const auto perm = integers(editor.node(node), "perm");
  if (!perm.empty() && perm != std::vector<std::int64_t>{1, 0}) return false;
  for (const int reader : readers) {
    if (!editor.is(reader, "MatMul") && !editor.is(reader, "Gemm")) return false;
    const onnx::NodeProto& proto = editor.node(reader);
    if (proto.input_size() > 2 && proto.input(2) == value) return false;
    for (const int side : {0, 1})
      if (!is_two_dimensional(editor, proto.input(side))) return false;
  }
  for (const int reader : readers) {
    onnx::NodeProto made = gemm_reading(editor, reader, value, source);
    editor.remove(reader);
    editor.add(std::move(made), reader);
  }
  editor.remove(node);
  return true;
}

}  // namespace symprof::workbench::rules

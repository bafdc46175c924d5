// before                                               after
//   y = Relu(Conv(x, w, b))                              y = FusedConv(x, w, b, activation=Relu)
//   y = Relu(Gemm(a, b, c))                              y = FusedGemm(a, b, c, activation=Relu)
//     the same for Sigmoid and Tanh
//   y = MatMul(a, Transpose(b)), scaled by a number      y = FusedMatMul(a, b, transB=1, alpha=…)
//   y = Transpose(MatMul(a, b))                          y = FusedMatMul(b, a, transA=1, transB=1)
//   y = Reshape(Gemm(Reshape(x), w)) of the rows of x    y = FusedMatMul(x, w, transB=…)
#include <algorithm>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// True if the permutation only swaps the last two of its axes.
bool swaps_last(const std::vector<std::int64_t>& perm) {
  const std::size_t rank = perm.size();
  if (rank < 2) return false;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return perm[rank - 2] == static_cast<std::int64_t>(rank) - 1 &&
         perm[rank - 1] == static_cast<std::int64_t>(rank) - 2;
}

int swapped(const Editor& editor, const std::string& value) {
  const int node = editor.maker(value);
  return editor.is(node, "Transpose") && swaps_last(integers(editor.node(node), "perm")) ? node
                                                                                         : -1;
}

bool is_product(const Editor& editor, int node) {
  return node >= 0 && editor.is_alive(node) &&
         (editor.is(node, "MatMul") || (editor.node(node).op_type() == "FusedMatMul" &&
                                        editor.node(node).domain() == contrib_domain));
}

onnx::NodeProto fused_of(const onnx::NodeProto& old) {
  onnx::NodeProto made;
  made.set_op_type("FusedMatMul");
  made.set_domain(contrib_domain);
  *made.mutable_input() = old.input();
  *made.mutable_output() = old.output();
  set_real(made, "alpha", real(old, "alpha", 1));
  for (const char* name : {"transA", "transB", "transBatchA", "transBatchB"})
    set_integer(made, name, integer(old, name, 0));
  return made;
}

bool take_transposes(Editor& editor, int node) {
  onnx::NodeProto made = fused_of(editor.node(node));
  std::vector<int> gone;
  for (const int side : {0, 1}) {
    const std::string value = editor.node(node).input(side);
    const int transpose = swapped(editor, value);
    const char* name = side == 0 ? "transA" : "transB";
    if (transpose < 0 || !editor.is_private(value)) continue;
    // FusedMatMul requires two axes of each operand, so vectors do not qualify.
    made.set_input(side, editor.node(transpose).input(0));
    set_integer(made, name, 1 - integer(made, name, 0));
    gone.push_back(transpose);
  }
  if (gone.empty()) return false;
  editor.remove(node);
  for (const int transpose : gone) editor.remove(transpose);
  editor.add(made, node);
  return true;
}

bool take_scale(Editor& editor, int node) {
  const std::string value = editor.node(node).output(0);
  if (!editor.is_private(value)) return false;
  const int reader = editor.readers(value).front();
  const bool divides = editor.is(reader, "Div");
  if (!divides && !editor.is(reader, "Mul")) return false;
  const onnx::NodeProto& scaling = editor.node(reader);
  const int side = scaling.input(0) == value ? 1 : 0;
  if (divides && side == 0) return false;
  const auto number = editor.number(scaling.input(side));
  if (!number || (divides && *number == 0)) return false;
  if (!editor.type(value).same(editor.type(scaling.output(0)))) return false;
  onnx::NodeProto made = fused_of(editor.node(node));
  const double alpha = real(made, "alpha", 1);
  set_real(made, "alpha", static_cast<float>(divides ? alpha / *number : alpha * *number));
  made.set_output(0, scaling.output(0));
  editor.remove(reader);
  editor.remove(node);
  editor.add(made, node);
  return true;
}

}  // namespace

bool fused_matmul(Editor& editor, int node) {
  if (!is_product(editor, node)) return false;
  const auto dtype = editor.type(editor.node(node).input(0)).dtype();
  const Type left = editor.type(editor.node(node).input(0)),
             right = editor.type(editor.node(node).input(1));
  if (!dtype || (*dtype != DType::float32 && *dtype != DType::float16)) return false;
  if (!left.sizes || !right.sizes || left.sizes->size() < 2 || right.sizes->size() < 2)
    return false;
  return take_transposes(editor, node) || take_scale(editor, node);
}

namespace {

/// Fuses the activation into the preceding `op`, as `fused`. ONNX Runtime supports both in float32
/// only.
bool activate(Editor& editor, int node, std::string_view op, const char* fused) {
  const bool is_activation =
      editor.is(node, "Relu") || editor.is(node, "Sigmoid") || editor.is(node, "Tanh");
  if (!is_activation) return false;
  const std::string value = editor.node(node).input(0);
  const int before = private_maker(editor, value, op);
  if (before < 0 || editor.type(value).dtype() != DType::float32) return false;
  onnx::NodeProto made = editor.node(before);
  made.set_op_type(fused);
  made.set_domain(contrib_domain);
  made.set_output(0, editor.node(node).output(0));
  set_text(made, "activation", editor.node(node).op_type());
  editor.remove(node);
  editor.remove(before);
  editor.add(made, before);
  return true;
}

}  // namespace

bool fused_conv(Editor& editor, int node) { return activate(editor, node, "Conv", "FusedConv"); }
bool fused_gemm(Editor& editor, int node) { return activate(editor, node, "Gemm", "FusedGemm"); }

namespace {

bool is_matrix_of_floats(const Editor& editor, const std::string& value) {
  const Type type = editor.type(value);
  const auto dtype = type.dtype();
  return dtype && (*dtype == DType::float32 || *dtype == DType::float16) && type.sizes &&
         type.sizes->size() >= 2;
}

bool reads_only_in_products(const Editor& editor, const std::string& value) {
  if (editor.is_pinned(value) || editor.readers(value).empty()) return false;
  for (const int reader : editor.readers(value)) {
    if (!is_product(editor, reader)) return false;
    for (const int side : {0, 1})
      if (!is_matrix_of_floats(editor, editor.node(reader).input(side))) return false;
  }
  return true;
}

}  // namespace

bool shared_transpose_into_matmul(Editor& editor, int node) {
  if (!editor.is(node, "Transpose") || !swaps_last(integers(editor.node(node), "perm")))
    return false;
  const std::string value = editor.node(node).output(0), source = editor.node(node).input(0);
  if (!reads_only_in_products(editor, value)) return false;
  for (const int reader : std::vector<int>(editor.readers(value))) {
    onnx::NodeProto made = fused_of(editor.node(reader));
    for (const int side : {0, 1}) {
      if (made.input(side) != value) continue;
      const char* name = side == 0 ? "transA" : "transB";
      made.set_input(side, source);
      set_integer(made, name, 1 - integer(made, name, 0));
    }
    editor.remove(reader);
    editor.add(made, reader);
  }
  editor.remove(node);
  return true;
}

bool scale_into_matmul(Editor& editor, int node) {
  const bool divides = editor.is(node, "Div");
  if (!divides && !editor.is(node, "Mul")) return false;
  const onnx::NodeProto& proto = editor.node(node);
  const std::string value = proto.output(0);
  const int side = editor.number(proto.input(1)) ? 1 : 0;
  const auto number = editor.number(proto.input(side));
  const std::string source = proto.input(1 - side);
  if (!number || *number == 0 || (divides && side == 0)) return false;
  if (!editor.type(source).same(editor.type(value)) || !reads_only_in_products(editor, value))
    return false;
  for (const int reader : std::vector<int>(editor.readers(value))) {
    onnx::NodeProto made = fused_of(editor.node(reader));
    double factor = 1;
    for (const int input : {0, 1})
      if (made.input(input) == value) {
        made.set_input(input, source);
        factor *= divides ? 1 / *number : *number;
      }
    set_real(made, "alpha", static_cast<float>(real(made, "alpha", 1) * factor));
    editor.remove(reader);
    editor.add(made, reader);
  }
  editor.remove(node);
  return true;
}

// (op(a) · op(b))ᵀ = op(b)ᵀ · op(a)ᵀ.
bool transpose_of_product(Editor& editor, int node) {
  if (!editor.is(node, "Transpose") || !swaps_last(integers(editor.node(node), "perm")))
    return false;
  const std::string value = editor.node(node).input(0);
  const int product = editor.maker(value);
  if (!is_product(editor, product) || !editor.is_private(value)) return false;
  for (const int side : {0, 1})
    if (!is_matrix_of_floats(editor, editor.node(product).input(side))) return false;
  const onnx::NodeProto old = editor.node(product);
  onnx::NodeProto made = fused_of(old);
  if (integer(made, "transBatchA", 0) != 0 || integer(made, "transBatchB", 0) != 0) return false;
  made.set_input(0, old.input(1));
  made.set_input(1, old.input(0));
  set_integer(made, "transA", 1 - integer(old, "transB", 0));
  set_integer(made, "transB", 1 - integer(old, "transA", 0));
  made.set_output(0, editor.node(node).output(0));
  editor.remove(node);
  editor.remove(product);
  editor.add(made, product);
  return true;
}

// y = Reshape(Gemm(Reshape(x, [rows, k]), w), [batch, length, n]): the axes before the last are the
// rows, so FusedMatMul takes x directly.
bool gemm_of_reshaped(Editor& editor, int node) {
  if (!editor.is(node, "Reshape")) return false;
  const std::string middle = editor.node(node).input(0);
  const int gemm = editor.maker(middle);
  if (!editor.is(gemm, "Gemm") && !editor.is(gemm, "MatMul")) return false;
  const onnx::NodeProto old = editor.node(gemm);
  if (old.input_size() > 2 || !editor.is_private(middle) || integer(old, "transA", 0) != 0 ||
      !is_matrix_of_floats(editor, old.input(1)) || editor.type(old.input(1)).sizes->size() != 2)
    return false;
  const int before = editor.maker(old.input(0));
  if (!editor.is(before, "Reshape")) return false;
  const std::string source = editor.node(before).input(0);
  const Type own = editor.type(source), result = editor.type(editor.node(node).output(0)),
             flat = editor.type(old.input(0)), product = editor.type(middle);
  if (!own.sizes || !result.sizes || !flat.sizes || !product.sizes || own.sizes->size() < 2 ||
      own.sizes->size() != result.sizes->size() || flat.sizes->size() != 2 ||
      product.sizes->size() != 2)
    return false;
  const bool rows_stay = std::equal(own.sizes->begin(), own.sizes->end() - 1, result.sizes->begin(),
                                    [](const Size& a, const Size& b) { return a.same(b); });
  if (!rows_stay || !own.sizes->back().same(flat.sizes->back()) ||
      !result.sizes->back().same(product.sizes->back()))
    return false;
  onnx::NodeProto made = fused_of(old);
  made.set_input(0, source);
  made.set_output(0, editor.node(node).output(0));
  editor.remove(node);
  editor.remove(gemm);
  editor.add(made, gemm);
  editor.drop_unread(old);
  return true;
}

}  // namespace symprof::workbench::rules

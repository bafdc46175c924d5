// before                                       after
//   y = Einsum(a, b, "bij,bjk->bik")           y = MatMul(a, b)
//   y = Einsum(a, b, "ij,kj->ik")              y = Gemm(a, b, transB=1), of two dimensions
//   y = Einsum(a, b, "bij,bkj->bik")           y = FusedMatMul(a, b, transB=1), com.microsoft
//   y = Einsum(x, "ijk->ikj")                  y = Transpose(x)
#include <algorithm>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// Axis letters of operands and result, all explicit and distinct within each.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

bool are_different(const std::string& letters) {
  return std::all_of(letters.begin(), letters.end(), [&](char letter) {
    return std::isalpha(static_cast<unsigned char>(letter)) &&
           std::count(letters.begin(), letters.end(), letter) == 1;
  });
}

std::optional<Equation> equation_of(const Editor& editor, int node) {
  const auto* attribute = find_attribute(editor.node(node), "equation");
  if (!editor.is(node, "Einsum") || !attribute) return std::nullopt;
  std::string text = attribute->s();
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos) return std::nullopt;
  Equation equation{.result = text.substr(arrow + 2)};
  const std::string operands = text.substr(0, arrow);
  for (std::size_t begin = 0; begin <= operands.size();) {
    const std::size_t end = std::min(operands.find(',', begin), operands.size());
    equation.operands.push_back(operands.substr(begin, end - begin));
    begin = end + 1;
  }
  bool is_simple = are_different(equation.result) &&
                   static_cast<int>(equation.operands.size()) == editor.node(node).input_size();
  for (std::size_t i = 0; i < equation.operands.size() && is_simple; ++i)
    is_simple = are_different(equation.operands[i]) &&
                rank_of(editor, editor.node(node).input(static_cast<int>(i))) ==
                    equation.operands[i].size();
  return is_simple ? std::optional(equation) : std::nullopt;
}

/// A product of matrices: which input is the left one, and which are transposed.
struct MatrixProduct {
  int left = 0;
  bool is_left_turned = false, is_right_turned = false;
  bool is_batched = false;  ///< Both have equally many axes.
};

/// With `a` on the left: the contracted axis is the last or last but one of both.
std::optional<MatrixProduct> matrix_product(std::string a, std::string b,
                                            const std::string& result) {
  if (a.size() < 2 || b.size() < 2 || result.size() != a.size()) return std::nullopt;
  const char row = result[result.size() - 2], column = result.back();
  const auto turned = [](std::string& letters, std::size_t behind, char wanted) {
    const std::size_t at = letters.size() - behind;
    if (letters[at] == wanted) return false;
    std::swap(letters[letters.size() - 1], letters[letters.size() - 2]);
    return true;
  };
  MatrixProduct product;
  product.is_left_turned = turned(a, 2, row);
  product.is_right_turned = turned(b, 1, column);
  const std::string batch = result.substr(0, result.size() - 2);
  product.is_batched = b.size() == a.size();
  const char sum = a.back();
  const bool is_product = a == batch + row + sum && (b.size() == 2 || product.is_batched) &&
                          b == (product.is_batched ? batch : "") + sum + column &&
                          result.find(sum) == std::string::npos &&
                          a.find(column) == std::string::npos;
  return is_product ? std::optional(product) : std::nullopt;
}

/// True if axes with the same letter have equal sizes: no broadcast.
bool are_sizes_equal(const Editor& editor, int node, const Equation& equation) {
  const Type a = editor.type(editor.node(node).input(0)),
             b = editor.type(editor.node(node).input(1));
  for (std::size_t i = 0; i < equation.operands[0].size(); ++i)
    if (const std::size_t at = equation.operands[1].find(equation.operands[0][i]);
        at != std::string::npos && !(*a.sizes)[i].same((*b.sizes)[at]))
      return false;
  return true;
}

std::optional<MatrixProduct> matrix_product(const Editor& editor, int node) {
  const auto equation = equation_of(editor, node);
  if (!equation || equation->operands.size() != 2 || !are_sizes_equal(editor, node, *equation) ||
      !is_float(editor, editor.node(node).output(0)))
    return std::nullopt;
  const std::string &a = equation->operands[0], &b = equation->operands[1];
  if (const auto product = matrix_product(a, b, equation->result)) return product;
  auto product = matrix_product(b, a, equation->result);
  if (product) product->left = 1;
  return product;
}

void become_product(Editor& editor, int node, const MatrixProduct& product, onnx::NodeProto made) {
  if (product.is_left_turned) set_integer(made, "transA", 1);
  if (product.is_right_turned) set_integer(made, "transB", 1);
  const onnx::NodeProto& old = editor.node(node);
  const std::vector<std::string> inputs{old.input(product.left), old.input(1 - product.left)};
  become(editor, node, std::move(made), inputs);
}

bool become_transpose(Editor& editor, int node) {
  const auto equation = equation_of(editor, node);
  if (!equation || equation->operands.size() != 1) return false;
  const std::string& from = equation->operands[0];
  std::vector<std::int64_t> order;
  for (const char letter : equation->result)
    if (const std::size_t at = from.find(letter); at != std::string::npos)
      order.push_back(static_cast<std::int64_t>(at));
  if (order.size() != from.size() || order.size() != equation->result.size()) return false;
  onnx::NodeProto made = node_of("Transpose");
  set_integers(made, "perm", order);
  const std::string source = editor.node(node).input(0);
  become(editor, node, std::move(made), {source});
  return true;
}

}  // namespace

bool einsum(Editor& editor, int node) {
  const auto product = matrix_product(editor, node);
  if (!product) return become_transpose(editor, node);
  const bool is_turned = product->is_left_turned || product->is_right_turned;
  const bool is_gemm = is_turned && rank_of(editor, editor.node(node).output(0)) == 2;
  if ((is_turned && !is_gemm) || editor.opset() < 11) return false;
  become_product(editor, node, *product, node_of(is_gemm ? "Gemm" : "MatMul"));
  return true;
}

bool einsum_of_turned(Editor& editor, int node) {
  const auto product = matrix_product(editor, node);
  if (!product || (product->is_left_turned && !product->is_batched)) return false;
  become_product(editor, node, *product, node_of("FusedMatMul", contrib_domain));
  return true;
}

}  // namespace symprof::workbench::rules

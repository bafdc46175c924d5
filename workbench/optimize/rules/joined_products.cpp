// before                                     after
//   q = MatMul(x, a), k = MatMul(x, b),       q, k, v = Split(MatMul(x, [a b c])), the weights side
//   v = MatMul(x, c)                          by side in one constant
//   …, each with the Add of its bias          q, k, v = Split(Add(MatMul(x, [a b c]), biases))
//   q = Gemm(x, a, bias), …                   q, k, v = Split(Gemm(x, [a b c], biases))
// Three or more products: joining two would not save a node.
#include <algorithm>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// A product of a value with an available weight, and optionally the sum with its bias.
struct JoinedPart {
  int node = -1, sum = -1;
  ConstantPointer weight, bias;
  bool is_turned = false;  ///< The weight is [outputs, inputs] (Gemm with transB).

  std::int64_t width() const { return weight->spec.sizes[is_turned ? 0 : 1]; }
  int last() const { return sum < 0 ? node : sum; }
  bool is_like(const JoinedPart& other) const {
    return is_turned == other.is_turned && (sum < 0) == (other.sum < 0) && !bias == !other.bias &&
           weight->spec.dtype == other.weight->spec.dtype;
  }
};

/// A constant of one dimension with `width` elements.
ConstantPointer vector_of(const Editor& editor, const std::string& value, std::int64_t width) {
  const ConstantPointer bias = editor.constant(value);
  return bias && bias->spec.sizes == std::vector<std::int64_t>{width} ? bias : nullptr;
}

void take_sum(const Editor& editor, JoinedPart& product) {
  const std::string& y = editor.node(product.node).output(0);
  if (!editor.is_private(y)) return;
  const int sum = editor.readers(y).front();
  if (!editor.is(sum, "Add")) return;
  const onnx::NodeProto& proto = editor.node(sum);
  product.bias = vector_of(editor, proto.input(proto.input(0) == y ? 1 : 0), product.width());
  if (product.bias) product.sum = sum;
}

std::optional<JoinedPart> part_of(const Editor& editor, int node, const std::string& x) {
  const bool is_gemm = editor.is(node, "Gemm");
  if (!is_gemm && !editor.is(node, "MatMul")) return std::nullopt;
  const onnx::NodeProto& proto = editor.node(node);
  if (proto.input(0) != x || proto.input(1) == x) return std::nullopt;
  JoinedPart product{.node = node, .weight = editor.constant(proto.input(1))};
  if (!product.weight || product.weight->spec.sizes.size() != 2 ||
      element_bits(product.weight->spec.dtype) % 8 != 0)
    return std::nullopt;
  if (!is_gemm) {
    take_sum(editor, product);
    return product;
  }
  product.is_turned = integer(proto, "transB", 0) != 0;
  const bool has_bias = proto.input_size() > 2 && !proto.input(2).empty();
  if (has_bias) product.bias = vector_of(editor, proto.input(2), product.width());
  const bool is_plain = integer(proto, "transA", 0) == 0 && real(proto, "alpha", 1) == 1 &&
                        real(proto, "beta", 1) == 1;
  return is_plain && has_bias == (product.bias != nullptr) ? std::optional(product) : std::nullopt;
}

/// Concatenates the parts along their rows.
ConstantPointer side_by_side(const std::vector<ConstantPointer>& parts, std::int64_t rows,
                             std::vector<std::int64_t> sizes) {
  auto joined = std::make_shared<ConstantTensor>();
  joined->spec.dtype = parts.front()->spec.dtype;
  joined->spec.strides = contiguous_strides(sizes);
  joined->spec.sizes = std::move(sizes);
  for (std::int64_t row = 0; row < rows; ++row)
    for (const ConstantPointer& part : parts) {
      const auto length = static_cast<std::ptrdiff_t>(part->data.size()) / rows;
      const auto begin = part->data.begin() + row * length;
      joined->data.insert(joined->data.end(), begin, begin + length);
    }
  return joined;
}

/// All products of x that resemble the first one.
std::vector<JoinedPart> products_like(const Editor& editor, const JoinedPart& first,
                                      const std::string& x) {
  std::vector<int> readers = editor.readers(x);
  std::sort(readers.begin(), readers.end());
  std::vector<JoinedPart> all;
  for (const int reader : readers)
    if (const auto product = part_of(editor, reader, x);
        product && product->is_like(first) &&
        editor.node(reader).op_type() == editor.node(first.node).op_type())
      all.push_back(*product);
  return all;
}

/// The concatenated weights and biases of all parts; no bias where they have none.
struct JoinedConstants {
  std::string weight, bias;
  std::vector<std::int64_t> widths;
  std::int64_t width = 0;
};

JoinedConstants join_constants(Editor& editor, const std::vector<JoinedPart>& parts,
                               const std::string& base) {
  JoinedConstants joined;
  std::vector<ConstantPointer> weights, biases;
  for (const JoinedPart& part : parts) {
    weights.push_back(part.weight);
    biases.push_back(part.bias);
    joined.widths.push_back(part.width());
    joined.width += part.width();
  }
  const JoinedPart& first = parts.front();
  const std::int64_t depth = first.weight->spec.sizes[first.is_turned ? 1 : 0];
  joined.weight =
      editor.add_constant(first.is_turned ? side_by_side(weights, 1, {joined.width, depth})
                                          : side_by_side(weights, depth, {depth, joined.width}),
                          base + "_weight");
  if (first.bias)
    joined.bias = editor.add_constant(side_by_side(biases, 1, {joined.width}), base + "_bias");
  return joined;
}

/// The type of a part's result, as wide as all parts.
Type joined_type(const Editor& editor, const JoinedPart& part, std::int64_t width) {
  Type type = editor.type(editor.node(part.last()).output(0));
  if (type.sizes && !type.sizes->empty()) type.sizes->back() = {width, {}};
  return type;
}

void join_parts(Editor& editor, const std::string& x, const std::vector<JoinedPart>& parts) {
  const JoinedPart& first = parts.front();
  onnx::NodeProto product = editor.node(first.node), split = node_of("Split");
  const std::string base = product.output(0) + "_joined";
  const JoinedConstants constants = join_constants(editor, parts, base);
  const Type type = joined_type(editor, first, constants.width);
  product.clear_input();
  for (const std::string& input : {x, constants.weight}) product.add_input(input);
  if (first.bias && first.sum < 0) product.add_input(constants.bias);
  product.set_output(0, editor.fresh(base));
  std::string whole = product.output(0);
  for (const JoinedPart& part : parts) split.add_output(editor.node(part.last()).output(0));
  for (const JoinedPart& part : parts) {
    editor.remove(part.node);
    if (part.sum >= 0) editor.remove(part.sum);
  }
  editor.add(std::move(product), first.node, type);
  if (first.sum >= 0) {
    onnx::NodeProto sum = node_of("Add");
    for (const std::string& input : {whole, constants.bias}) sum.add_input(input);
    sum.add_output(editor.fresh(base + "_sum"));
    whole = sum.output(0);
    editor.add(std::move(sum), first.sum, type);
  }
  const auto count = static_cast<std::int64_t>(parts.size());
  split.add_input(whole);
  split.add_input(editor.add_constant(make_integers({count}, constants.widths), base + "_split"));
  set_integer(split, "axis", -1);
  editor.add(std::move(split), first.last());
}

}  // namespace

bool join_products(Editor& editor, int node) {
  if (editor.opset() < 13 || editor.node(node).input_size() < 2) return false;
  const std::string x = editor.node(node).input(0);
  const auto own = part_of(editor, node, x);
  if (!own) return false;
  const std::vector<JoinedPart> parts = products_like(editor, *own, x);
  if (parts.size() < 3 || parts.front().node != node) return false;
  join_parts(editor, x, parts);
  return true;
}

}  // namespace symprof::workbench::rules

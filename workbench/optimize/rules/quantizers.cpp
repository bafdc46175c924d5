// before                                               after
//   y = QuantizeLinear(DequantizeLinear(x, s, z), s, z)   y = x, of integers of 8 bits
//   y = QuantizeLinear(Reshape(DequantizeLinear(x)))      y = Reshape(x)
//     (any of Reshape, Transpose, Squeeze, Unsqueeze, Flatten, Expand, Slice, one scale for all)
//   y = MatMul(a, DequantizeLinear(w, s, z, blocks        y = MatMulNBits(a, w', s', z'), of
//       along the sums))                                  com.microsoft, weights of 4 and 8 bits
#include <algorithm>
#include <array>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

constexpr std::array<std::string_view, 7> view_ops = {
    "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Slice"};

/// True if two operands certainly hold the same numbers.
bool are_same(const Editor& editor, const std::string& a, const std::string& b) {
  if (a == b) return true;
  const ConstantPointer first = editor.constant(a), second = editor.constant(b);
  return first && second && first->spec.dtype == second->spec.dtype &&
         first->spec.sizes == second->spec.sizes && first->data == second->data;
}

std::string input_or_none(const onnx::NodeProto& node, int input) {
  return node.input_size() > input ? node.input(input) : std::string();
}

/// True if 8-bit numbers survive dequantization and quantization: float32 scales, neither very
/// small nor large.
bool are_exact(const Editor& editor, const std::string& scale) {
  const ConstantPointer constant = editor.constant(scale);
  if (!constant || constant->spec.dtype != DType::float32) return false;
  const auto numbers = reals_of(*constant);
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return number > 1e-30 && number < 1e30; });
}

bool is_byte(const Editor& editor, const std::string& value) {
  const auto dtype = editor.type(value).dtype();
  return dtype == DType::uint8 || dtype == DType::int8;
}

/// The views between a quantizer and the quantized value, from the last to the first.
std::vector<int> views_before(const Editor& editor, std::string value) {
  std::vector<int> chain;
  while (editor.is_private(value)) {
    const int node = editor.maker(value);
    if (std::none_of(view_ops.begin(), view_ops.end(),
                     [&](std::string_view op) { return editor.is(node, op); }))
      break;
    chain.push_back(node);
    value = editor.node(node).input(0);
  }
  return chain;
}

bool undoes(const Editor& editor, const onnx::NodeProto& quantize,
            const onnx::NodeProto& dequantize, bool has_views) {
  const ConstantPointer scale = editor.constant(quantize.input(1));
  return are_exact(editor, quantize.input(1)) &&
         are_same(editor, quantize.input(1), dequantize.input(1)) &&
         are_same(editor, input_or_none(quantize, 2), input_or_none(dequantize, 2)) &&
         (scale->spec.numel() == 1 || !has_views) &&
         integer(quantize, "axis", 1) == integer(dequantize, "axis", 1) &&
         integer(quantize, "block_size", 0) == integer(dequantize, "block_size", 0) &&
         is_byte(editor, dequantize.input(0)) &&
         editor.type(dequantize.input(0)).element == editor.type(quantize.output(0)).element;
}

}  // namespace

bool requantize(Editor& editor, int node) {
  if (!editor.is(node, "QuantizeLinear")) return false;
  const onnx::NodeProto quantize = editor.node(node);
  const std::vector<int> chain = views_before(editor, quantize.input(0));
  const std::string wide = chain.empty() ? quantize.input(0) : editor.node(chain.back()).input(0);
  const int before = editor.maker(wide);
  if (!editor.is(before, "DequantizeLinear")) return false;
  const onnx::NodeProto dequantize = editor.node(before);
  const std::string by = chain.empty() ? dequantize.input(0) : quantize.input(0);
  if (!undoes(editor, quantize, dequantize, !chain.empty()) ||
      !editor.can_replace(quantize.output(0), by))
    return false;
  if (!chain.empty()) {
    editor.set_input(chain.back(), 0, dequantize.input(0));
    for (const int view : chain) {
      Type type = editor.type(editor.node(view).output(0));
      type.element = editor.type(dequantize.input(0)).element;
      editor.set_type(editor.node(view).output(0), type);
    }
  }
  if (!pass(editor, node, by)) return false;
  if (editor.readers(wide).empty() && !editor.is_pinned(wide)) editor.remove(before);
  return true;
}

namespace {

/// 4- or 8-bit numbers as stored, the first in the lowest bits.
std::vector<std::uint8_t> stored_numbers(const ConstantTensor& tensor, int bits) {
  std::vector<std::uint8_t> numbers;
  for (std::int64_t i = 0; i < tensor.spec.numel(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto byte = static_cast<std::uint8_t>(tensor.data[bits == 8 ? at : at / 2]);
    numbers.push_back(bits == 8 ? byte : (byte >> (i % 2 * 4)) & 15);
  }
  return numbers;
}

/// A quantized matrix [depth, width] with one scale per block of rows.
struct Blocks {
  ConstantPointer weight, scale, zero;  ///< No zero point: 0.
  int bits = 0;
  bool is_signed = false;
  std::int64_t depth = 0, width = 0, block = 0;

  std::int64_t count() const { return depth / block; }
  int middle() const { return 1 << (bits - 1); }
};

std::optional<Blocks> blocks_of(const Editor& editor, int node) {
  if (!editor.is(node, "DequantizeLinear")) return std::nullopt;
  const onnx::NodeProto& proto = editor.node(node);
  Blocks blocks{.weight = editor.constant(proto.input(0)),
                .scale = editor.constant(proto.input(1))};
  const std::string zero = input_or_none(proto, 2);
  if (!zero.empty()) blocks.zero = editor.constant(zero);
  if (!blocks.weight || !blocks.scale || blocks.weight->spec.sizes.size() != 2 ||
      (!zero.empty() && !blocks.zero))
    return std::nullopt;
  const DType dtype = blocks.weight->spec.dtype;
  blocks.bits = static_cast<int>(element_bits(dtype));
  blocks.is_signed = dtype == DType::int4 || dtype == DType::int8;
  if (!blocks.is_signed && dtype != DType::uint4 && dtype != DType::uint8) return std::nullopt;
  blocks.depth = blocks.weight->spec.sizes[0];
  blocks.width = blocks.weight->spec.sizes[1];
  blocks.block = integer(proto, "block_size", 0);
  // The requirements of ONNX Runtime's kernels.
  const bool is_power = blocks.block >= 16 && (blocks.block & (blocks.block - 1)) == 0;
  const std::int64_t axis = integer(proto, "axis", 1);
  if (!is_power || (axis != 0 && axis != -2) || blocks.depth % blocks.block != 0)
    return std::nullopt;
  const std::vector<std::int64_t> wanted{blocks.count(), blocks.width};
  if (blocks.scale->spec.sizes != wanted ||
      (blocks.zero && (blocks.zero->spec.sizes != wanted || blocks.zero->spec.dtype != dtype)))
    return std::nullopt;
  return blocks;
}

/// A matrix [rows, columns] transposed and packed: each row of the result begins at a byte.
std::vector<std::int64_t> turned_bytes(const std::vector<std::uint8_t>& numbers, std::int64_t rows,
                                       std::int64_t columns, const Blocks& blocks) {
  std::vector<std::int64_t> bytes;
  for (std::int64_t column = 0; column < columns; ++column)
    for (std::int64_t row = 0; row < rows; ++row) {
      // Signed numbers become unsigned: 0 maps to the middle of the range.
      const int shift = blocks.is_signed ? blocks.middle() : 0;
      const int number = (numbers[static_cast<std::size_t>(row * columns + column)] + shift) &
                         ((1 << blocks.bits) - 1);
      if (blocks.bits == 4 && row % 2 == 1)
        bytes.back() |= number << 4;
      else
        bytes.push_back(number);
    }
  return bytes;
}

/// The zero points in the operator's format; empty if they equal its default.
std::string zeros_of(Editor& editor, const Blocks& blocks, const std::string& name) {
  if (!blocks.zero && blocks.is_signed) return {};
  const auto count = static_cast<std::size_t>(blocks.count() * blocks.width);
  const auto numbers =
      blocks.zero ? stored_numbers(*blocks.zero, blocks.bits) : std::vector<std::uint8_t>(count);
  const auto bytes = turned_bytes(numbers, blocks.count(), blocks.width, blocks);
  return editor.add_constant(
      make_integers({static_cast<std::int64_t>(bytes.size())}, bytes, DType::uint8), name);
}

std::string scales_of(Editor& editor, const Blocks& blocks, const std::string& name) {
  const auto numbers = reals_of(*blocks.scale);
  std::vector<double> turned;
  for (std::int64_t column = 0; column < blocks.width; ++column)
    for (std::int64_t row = 0; row < blocks.count(); ++row)
      turned.push_back(numbers[static_cast<std::size_t>(row * blocks.width + column)]);
  return editor.add_constant(
      make_constant(blocks.scale->spec.dtype, {blocks.width * blocks.count()}, turned), name);
}

}  // namespace

bool matmul_of_blocks(Editor& editor, int node) {
  if (!editor.is(node, "MatMul")) return false;
  const std::string a = editor.node(node).input(0), weight = editor.node(node).input(1);
  const auto dtype = editor.type(a).dtype();
  const auto blocks = blocks_of(editor, private_maker(editor, weight, "DequantizeLinear"));
  if (!blocks || blocks->scale->spec.dtype != dtype ||
      (dtype != DType::float32 && dtype != DType::float16))
    return false;
  const auto bytes = turned_bytes(stored_numbers(*blocks->weight, blocks->bits), blocks->depth,
                                  blocks->width, *blocks);
  std::vector<std::string> inputs{
      a,
      editor.add_constant(
          make_integers({blocks->width, blocks->count(), blocks->block * blocks->bits / 8}, bytes,
                        DType::uint8),
          weight + "_bytes"),
      scales_of(editor, *blocks, weight + "_scales")};
  if (const std::string zeros = zeros_of(editor, *blocks, weight + "_zeros"); !zeros.empty())
    inputs.push_back(zeros);
  onnx::NodeProto made = node_of("MatMulNBits", contrib_domain);
  set_integer(made, "K", blocks->depth);
  set_integer(made, "N", blocks->width);
  set_integer(made, "bits", blocks->bits);
  set_integer(made, "block_size", blocks->block);
  become(editor, node, std::move(made), inputs);
  return true;
}

}  // namespace symprof::workbench::rules

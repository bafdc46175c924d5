// com.microsoft: weights of 2, 4 or 8 bits with a scale per block. They are dequantized and then
// used by PyTorch operators: a product costs as much as a float product.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shape/lowering/contrib/blockwise.h"
#include "shape/lowering/families.h"
#include "shape/lowering/narrow.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

std::int64_t bits_of(const OnnxCall& call) {
  const std::int64_t bits = call.integer("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8)
    call.fail(fmt::format("weights of {} bits", bits), "Wanted: 2, 4 or 8.");
  return bits;
}

/// Unpacks bytes into numbers along the last dimension, the lowest bits first.
at::Tensor unpacked(const at::Tensor& bytes, std::int64_t bits) {
  if (bits == 8) return bytes;
  std::vector<at::Tensor> parts;
  for (std::int64_t shift = 0; shift < 8; shift += bits)
    parts.push_back(at::bitwise_and(at::bitwise_right_shift(bytes, shift), (1 << bits) - 1));
  return at::stack(parts, -1).flatten(-2);
}

/// Zero points [N, blocks]: packed as the weights are, or of the scales' dtype; undefined if the
/// node has none (then 2^(bits - 1)).
at::Tensor zero_points(const OnnxCall& call, std::size_t input, const at::Tensor& scales,
                       std::int64_t bits) {
  if (!call.has(input)) return {};
  const at::Tensor given = to_device_of(call.input(input), scales);
  if (given.scalar_type() != at::kByte) return given.reshape(scales.sizes());
  const at::Tensor rows = given.reshape({scales.size(0), -1});
  return at::slice(unpacked(rows, bits), 1, 0, scales.size(1)).to(scales.scalar_type());
}

/// (number - zero point) x scale, with the scales broadcast over their blocks.
at::Tensor scaled(const at::Tensor& numbers, const at::Tensor& zero, std::int64_t middle,
                  const at::Tensor& scales) {
  const at::Tensor x = numbers.to(scales.scalar_type());
  return at::mul(zero.defined() ? at::sub(x, zero) : at::sub(x, middle), scales);
}

/// A · W' + bias; W [N, blocks, block x bits / 8] of bytes.
Tensors matmul_n_bits(OnnxCall& call) {
  const BlockSizes sizes{.rows = call.integer("N", 0),
                         .columns = call.integer("K", 0),
                         .block = call.integer("block_size", 0),
                         .bits = bits_of(call)};
  if (call.has(4)) call.fail("groups by index (g_idx) are not supported");
  if (call.is_set("weight_prepacked")) call.fail("prepacked weights are not supported");
  const at::Tensor& a = call.input(0);
  at::Tensor scales = to_device_of(call.input(2), a);
  if (sizes.rows > 0 && scales.numel() % sizes.rows == 0)
    scales = scales.reshape({sizes.rows, scales.numel() / sizes.rows});
  const at::Tensor zero = zero_points(call, 3, scales, sizes.bits);
  at::Tensor bias = call.optional_input(5);
  if (bias.defined()) bias = to_device_of(bias, a);
  return {at::linear(a, block_weights(call, to_device_of(call.input(1), a), scales, zero, sizes),
                     bias)};
}

/// `parameter` with each element of `axis` repeated for its block.
at::Tensor spread(const at::Tensor& parameter, std::int64_t axis, std::int64_t block,
                  std::int64_t size) {
  if (parameter.size(axis) == size) return parameter;
  return at::slice(parameter.repeat_interleave(std::min(block, size), axis), axis, 0, size);
}

/// LibTorch's CPU kernels cannot index sub-byte dtypes.
at::Tensor readable(const at::Tensor& x) {
  return is_real(x) && is_narrow(x.scalar_type()) ? to_type(x, at::kFloat) : x;
}

/// Looks up rows of a quantized table and dequantizes them. Sub-byte numbers are packed in bytes
/// along the last dimension, or have a dtype of their own.
Tensors gather_blocks(OnnxCall& call) {
  const std::int64_t bits = bits_of(call), block = call.integer("block_size", 128);
  const at::Tensor data = readable(call.input(0));
  const at::Tensor scales = to_device_of(call.input(2), data);
  const std::int64_t axis = checked_axis(call, call.integer("gather_axis", 0), data.dim());
  const std::int64_t blocked = checked_axis(call, call.integer("quantize_axis", 1), data.dim());
  const at::Tensor indices = to_device_of(call.input(1), data);
  const bool packed = data.scalar_type() == at::kByte;
  if (block < 1) call.fail(fmt::format("a block_size of {}", block));
  const auto rows = [&](const at::Tensor& table) {
    return at::index_select(table, axis, indices.reshape({-1}));
  };
  const at::Tensor numbers = packed ? unpacked(rows(data), bits) : rows(data);
  const std::int64_t size = numbers.size(blocked);
  at::Tensor zero;
  if (call.has(3)) {
    at::Tensor given = rows(to_device_of(readable(call.input(3)), data));
    if (packed) given = at::slice(unpacked(given, bits), -1, 0, scales.size(-1));
    zero = spread(given, blocked, block, size).to(scales.scalar_type());
  }
  const at::Tensor y = scaled(numbers, zero, packed ? 1 << (bits - 1) : 0,
                              spread(rows(scales), blocked, block, size));
  Integers sizes(y.sizes().begin(), y.sizes().end());
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, indices.sizes().begin(), indices.sizes().end());
  return {y.reshape(sizes)};
}

/// Weights [experts, outputs, inputs x bits / 8] of bytes as numbers; scales of a row, or of its
/// blocks.
at::Tensor expert_weights(const OnnxCall& call, std::size_t weight, std::size_t zero_point) {
  const at::Tensor& x = call.input(0);
  const std::int64_t bits = call.integer("expert_weight_bits", 4);
  if (bits != 2 && bits != 4 && bits != 8)
    call.fail(fmt::format("weights of {} bits", bits), "Wanted: 2, 4 or 8.");
  const at::Tensor numbers = unpacked(to_device_of(call.input(weight), x), bits);
  const at::Tensor given = to_device_of(call.input(weight + 1), x);
  if (numbers.dim() != 3 || given.dim() < 2)
    call.fail(fmt::format("weights [{}] with scales [{}]", fmt::join(numbers.sizes(), ", "),
                          fmt::join(given.sizes(), ", ")),
              "Wanted: [experts, outputs, inputs x bits / 8] and [experts, outputs].");
  const std::int64_t block = call.integer("block_size", 0), size = numbers.size(2);
  const auto over_blocks = [&](const at::Tensor& parameter) {
    const at::Tensor whole = parameter.dim() == 2 ? parameter.unsqueeze(-1) : parameter;
    return block > 0 && whole.size(2) > 1 ? spread(whole, 2, block, size) : whole;
  };
  at::Tensor zero;
  if (call.has(zero_point)) {
    const at::Tensor points = to_device_of(call.input(zero_point), x);
    const at::Tensor rows = points.dim() == 2 ? points.unsqueeze(-1) : points;
    const std::int64_t blocks = given.dim() == 2 ? 1 : given.size(2);
    zero = over_blocks(at::slice(unpacked(rows, bits), 2, 0, blocks).to(given.scalar_type()));
  }
  return scaled(numbers, zero, 1 << (bits - 1), over_blocks(given)).to(x.scalar_type());
}

/// The experts of MoE, whose weights, scales and biases stand in threes; zero points come last.
Tensors quantized_mixture(OnnxCall& call) {
  Tensors inputs = {call.input(0), call.input(1)};
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const std::size_t weight = 2 + 3 * layer, zero_point = 11 + layer;
    inputs.push_back(call.has(weight) ? expert_weights(call, weight, zero_point) : at::Tensor());
    inputs.push_back(call.optional_input(weight + 2));
  }
  OnnxCall mixture{call.node, call.graph, std::move(inputs), call.device};
  return find_lowering("com.microsoft::MoE")->run(mixture);
}

constexpr Lowering blockwise_rows[] = {
    {"com.microsoft::GatherBlockQuantized", gather_blocks},
    {"com.microsoft::MatMulNBits", matmul_n_bits},
    {"com.microsoft::QMoE", quantized_mixture},
};

}  // namespace

at::Tensor block_weights(const OnnxCall& call, const at::Tensor& bytes, const at::Tensor& scales,
                         const at::Tensor& zero_points, const BlockSizes& sizes) {
  const auto [n, k, block, bits] = sizes;
  const std::int64_t blocks = block > 0 ? k / block + (k % block != 0) : 0;
  constexpr std::int64_t longest = std::int64_t{1} << 40;  // Per row: no product overflows.
  if (n < 1 || k < 1 || k > longest || block > longest || blocks < 1 || bytes.numel() % n != 0 ||
      bytes.numel() / n != blocks * block * bits / 8 || scales.numel() / n != blocks ||
      scales.numel() % n != 0)
    call.fail(fmt::format("weights [{}] and scales [{}] for N {}, K {}, {} bits and blocks of {}",
                          fmt::join(bytes.sizes(), ", "), fmt::join(scales.sizes(), ", "), n, k,
                          bits, block),
              "Wanted: [N, ceil(K / block), block x bits / 8] and [N, ceil(K / block)].");
  const at::Tensor numbers = unpacked(bytes.reshape({n, blocks, -1}), bits);
  const at::Tensor zero = zero_points.defined() ? zero_points.unsqueeze(-1) : zero_points;
  const at::Tensor factors = scales.reshape({n, blocks, 1});
  return at::slice(scaled(numbers, zero, 1 << (bits - 1), factors).flatten(1), 1, 0, k);
}

Lowerings microsoft_blockwise_lowerings() { return blockwise_rows; }

}  // namespace symprof::lowering

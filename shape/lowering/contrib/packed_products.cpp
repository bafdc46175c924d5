// com.microsoft: products with weights of 4 or 8 bits, some with the norm before them. Weights are
// dequantized and then used by PyTorch operators: a product costs as much as a float product.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "shape/lowering/contrib/activation.h"
#include "shape/lowering/contrib/blockwise.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace packed {
namespace {

at::Tensor bias_for(const OnnxCall& call, std::size_t input) {
  const at::Tensor bias = call.optional_input(input);
  return bias.defined() ? to_device_of(bias, call.input(0)) : bias;
}

/// The RMS norm of A, or of A + skip, of which the sum is the second; A itself without a weight.
std::array<at::Tensor, 2> normalized(const OnnxCall& call) {
  const at::Tensor& a = call.input(0);
  const at::Tensor skip = bias_for(call, 1), weight = bias_for(call, 2);
  const at::Tensor sum = skip.defined() ? at::add(a, skip) : a;
  if (!weight.defined()) return {sum, sum};
  return {at::rms_norm(sum, {weight.size(0)}, weight, call.real("epsilon", 1e-5)), sum};
}

/// `x` times the weights of inputs `first` (packed), `first` + 1 (scales) and `first` + 2 (bias).
at::Tensor product(const OnnxCall& call, const at::Tensor& x, std::size_t first, std::int64_t n) {
  const BlockSizes sizes{.rows = n,
                         .columns = call.integer("K", 0),
                         .block = call.integer("block_size", 0),
                         .bits = call.integer("bits", 4)};
  const at::Tensor bytes = to_device_of(call.input(first), x);
  const at::Tensor scales = to_device_of(call.input(first + 1), x);
  return at::linear(x, block_weights(call, bytes, scales, {}, sizes), bias_for(call, first + 2));
}

/// A gated pair of layers: activation(gate) x up.
Tensors gated_products(OnnxCall& call) {
  const auto [x, sum] = normalized(call);
  const std::int64_t n = call.integer("N", 0);
  at::Tensor gate = product(call, x, 3, n);
  const std::string name = call.text("activation", "silu");
  gate = name == "silu" || name == "swish" ? at::silu(gate) : activated(call, gate);
  return {at::mul(gate, product(call, x, 6, n)), sum};
}

/// Queries, keys and values of one normalized input.
Tensors three_products(OnnxCall& call) {
  const auto [x, sum] = normalized(call);
  const std::int64_t queries = call.integer("Nq", 0), keys = call.integer("Nkv", 0);
  return {product(call, x, 3, queries), product(call, x, 6, keys), product(call, x, 9, keys), sum};
}

/// The sixteen values of bitsandbytes' 4-bit types (csrc/kernels.cu: dDequantizeFP4Tree,
/// dDequantizeNF4).
constexpr std::array fp4_values = {
    0.0F,  5.208333333e-03F,  0.66666667F,  1.0F,  0.33333333F,  0.5F,  0.16666667F,  0.25F,
    -0.0F, -5.208333333e-03F, -0.66666667F, -1.0F, -0.33333333F, -0.5F, -0.16666667F, -0.25F};
constexpr std::array nf4_values = {-1.0F,
                                   -0.6961928009986877F,
                                   -0.5250730514526367F,
                                   -0.39491748809814453F,
                                   -0.28444138169288635F,
                                   -0.18477343022823334F,
                                   -0.09105003625154495F,
                                   0.0F,
                                   0.07958029955625534F,
                                   0.16093020141124725F,
                                   0.24611230194568634F,
                                   0.33791524171829224F,
                                   0.44070982933044434F,
                                   0.5626170039176941F,
                                   0.7229568362236023F,
                                   1.0F};

/// Each of two numbers in a byte, the high four bits first, looked up in a table of sixteen.
at::Tensor looked_up(const at::Tensor& bytes, const std::array<float, 16>& values,
                     bool high_first) {
  const at::Tensor low = at::bitwise_and(bytes, 15), high = at::bitwise_right_shift(bytes, 4);
  const at::Tensor index = high_first ? at::stack({high, low}, -1) : at::stack({low, high}, -1);
  const at::Tensor table =
      to_device_of(at::tensor(at::ArrayRef<float>(values), host_options(at::kFloat)), bytes);
  const at::Tensor flat = index.flatten(-2);
  return at::index_select(table, 0, flat.reshape({-1}).to(at::kInt)).reshape(flat.sizes());
}

/// A · W' or, without transB, A · W; W [N, K] of FP4 or NF4 with a largest value for each block.
Tensors matmul_bnb4(OnnxCall& call) {
  const at::Tensor& a = call.input(0);
  const std::int64_t n = call.integer("N", 0), k = call.integer("K", 0);
  const std::int64_t block = call.integer("block_size", 0), type = call.integer("quant_type", 0);
  const at::Tensor bytes = to_device_of(call.input(1), a).reshape({-1});
  const at::Tensor largest = to_device_of(call.input(2), a).reshape({-1, 1});
  if (n < 1 || k < 1 || block < 1 || n > (std::int64_t{1} << 40) / k || bytes.numel() * 2 < n * k ||
      largest.numel() * block < n * k || (type != 0 && type != 1))
    call.fail(fmt::format("{} bytes and {} scales for N {}, K {}, blocks of {} and quant_type {}",
                          bytes.numel(), largest.numel(), n, k, block, type),
              "Wanted: N x K / 2 bytes, a scale for each block, and quant_type 0 or 1.");
  const at::Tensor numbers = at::slice(
      looked_up(bytes, type == 0 ? fp4_values : nf4_values, /*high_first=*/true), 0, 0, n * k);
  const at::Tensor spread = largest.expand({largest.size(0), block}).reshape({-1});
  const at::Tensor weight =
      at::mul(numbers.to(a.scalar_type()), at::slice(spread, 0, 0, n * k)).reshape({n, k});
  return {call.integer("transB", 1) != 0 ? at::linear(a, weight) : at::matmul(a, weight)};
}

/// `scales` [N, blocks] over the blocks of K columns.
at::Tensor over_columns(const at::Tensor& scales, std::int64_t block, std::int64_t columns) {
  return at::slice(scales.repeat_interleave(std::min(block, columns), 1), 1, 0, columns);
}

void check_blocks(const OnnxCall& call, const at::Tensor& scales, std::int64_t rows,
                  std::int64_t columns, std::int64_t block) {
  if (block > 0 && scales.dim() == 2 && scales.size(0) == rows &&
      scales.size(1) == columns / block + (columns % block != 0))
    return;
  call.fail(fmt::format("scales [{}] for weights [{}, {}] in blocks of {}",
                        fmt::join(scales.sizes(), ", "), rows, columns, block),
            "Wanted: [N, ceil(K / block)].");
}

/// W [N, K] of float8; with a scale for A, A is rounded to float8, too.
Tensors matmul_float8(OnnxCall& call) {
  at::Tensor a = call.input(0);
  const at::Tensor bytes = to_device_of(call.input(1), a), scales = to_device_of(call.input(2), a);
  const std::int64_t block = call.integer("block_size", 128);
  if (bytes.dim() != 2)
    call.fail(fmt::format("weights of rank {}", bytes.dim()), "Wanted: [N, K].");
  check_blocks(call, scales, bytes.size(0), bytes.size(1), block);
  const at::Tensor weight =
      at::mul(bytes.to(at::kFloat), over_columns(scales, block, bytes.size(1)));
  if (call.has(3)) {
    const at::Tensor scale = to_device_of(call.input(3), a);
    const at::Tensor rounded = at::div(a.to(at::kFloat), scale).to(at::kFloat8_e4m3fn);
    a = at::mul(rounded.to(at::kFloat), scale).to(a.scalar_type());
  }
  return {at::linear(a, weight.to(a.scalar_type()), bias_for(call, 4))};
}

/// The values of float4 (E2M1) by their four bits.
constexpr std::array e2m1_values = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                    -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};

/// W [N, K / 2] of two float4 in a byte, with bytes of float8 as scales and one scale for all.
Tensors matmul_float4(OnnxCall& call) {
  const at::Tensor& a = call.input(0);
  const at::Tensor bytes = to_device_of(call.input(1), a), given = to_device_of(call.input(2), a);
  const std::int64_t block = call.integer("block_size", 16);
  if (bytes.dim() != 2)
    call.fail(fmt::format("weights of rank {}", bytes.dim()), "Wanted: [N, K / 2].");
  const at::Tensor numbers = looked_up(bytes, e2m1_values, /*high_first=*/false);
  const std::int64_t columns = numbers.size(1);
  check_blocks(call, given, bytes.size(0), columns, block);
  const at::Tensor scales = at::mul(given.view(at::kFloat8_e4m3fn).to(at::kFloat),
                                    to_device_of(call.input(3), a).to(at::kFloat));
  const at::Tensor weight = at::mul(numbers, over_columns(scales, block, columns));
  return {at::linear(a, weight.to(a.scalar_type()), bias_for(call, 5))};
}

/// activation(alpha x A · B + beta x C), with a scale for each float8 operand and for Y.
Tensors gemm_float8(OnnxCall& call) {
  const auto operand = [&](std::size_t input, std::size_t scale, std::string_view transposed) {
    at::Tensor x = to_device_of(call.input(input), call.input(0)).to(at::kFloat);
    if (call.has(scale)) x = at::mul(x, to_device_of(call.input(scale), x));
    return call.is_set(transposed) ? x.t() : x;
  };
  at::Tensor y = at::mm(operand(0, 3, "transA"), operand(1, 4, "transB"));
  if (const double alpha = call.real("alpha", 1.0); alpha != 1.0) y = at::mul(y, alpha);
  if (const double beta = call.real("beta", 0.0); call.has(2) && beta != 0.0)
    y = at::add(y, bias_for(call, 2).to(at::kFloat), beta);
  const std::string name = call.text("activation", "NONE");
  if (name == "RELU") y = at::relu(y);
  if (name == "GELU") y = at::gelu(y);
  if (call.has(5)) y = at::div(y, to_device_of(call.input(5), y));
  return {y.to(dtype_of_attribute(call, call.integer("dtype", 1)))};
}

constexpr Lowering packed_product_rows[] = {
    {"com.microsoft::GemmFloat8", gemm_float8},
    {"com.microsoft::MatMulBlockQuantizedFp4Weight", matmul_float4},
    {"com.microsoft::MatMulBlockQuantizedFp8Weight", matmul_float8},
    {"com.microsoft::MatMulBnb4", matmul_bnb4},
    {"com.microsoft::MatMulNBitsMlp", gated_products},
    {"com.microsoft::MatMulNBitsQkv", three_products},
};

}  // namespace
}  // namespace packed

Lowerings microsoft_packed_product_lowerings() { return packed::packed_product_rows; }

}  // namespace symprof::lowering

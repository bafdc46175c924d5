#include "engine/layer_time.h"

#include <algorithm>

#include "engine/layer_kinds.h"

namespace symprof::engine {
namespace {

using profile::AttentionWork;
using profile::ConvolutionWork;
using profile::Kernel;
using profile::ProductWork;
using profile::StreamWork;
using profile::TimeClass;

bool is_16bit(const Tensor& tensor) {
  return tensor.dtype == "float16" || tensor.dtype == "bfloat16";
}

bool is_8bit(const Tensor& tensor) { return tensor.dtype == "int8" || tensor.dtype == "float8"; }

bool has_tf32(const Layer& layer) { return layer.tactic.find("tf32") != std::string::npos; }

std::int64_t width_of(const Tensor& tensor) {
  return is_8bit(tensor) ? 1 : is_16bit(tensor) ? 2 : 4;
}

/// The product of known sizes fits into 64 bits: checked by bytes().
bool has_sizes(const Tensor& tensor) {
  return tensor.dimensions.size() >= 2 && bytes(tensor) &&
         std::ranges::all_of(tensor.dimensions, [](std::int64_t size) { return size > 0; });
}

std::int64_t positions(const Tensor& tensor) {
  std::int64_t count = 1;
  for (std::size_t i = 2; i < tensor.dimensions.size(); ++i) count *= tensor.dimensions[i];
  return count;
}

/// Empty if the dtype has no product class.
std::optional<TimeClass> product_class(const Layer& layer) {
  const Tensor& input = layer.inputs.front();
  if (is_8bit(input) || is_16bit(input)) return TimeClass::product_16bit;
  if (input.dtype != "float32") return std::nullopt;
  return has_tf32(layer) ? TimeClass::product_tf32 : TimeClass::product_fp32;
}

std::optional<TimeClass> convolution_class(const Layer& layer) {
  const Tensor& input = layer.inputs.front();
  if (is_8bit(input) || is_16bit(input)) return TimeClass::convolution_16bit;
  if (input.dtype != "float32") return std::nullopt;
  return has_tf32(layer) ? TimeClass::convolution_tf32 : TimeClass::convolution_fp32;
}

/// Two 8-bit elements count as one of 16 bits: tensor cores process them at twice the rate.
std::int64_t sum_length(const Layer& layer, std::int64_t numbers) {
  return is_8bit(layer.inputs.front()) ? (numbers + 1) / 2 : numbers;
}

std::int64_t operand_bytes(const Layer& layer) {
  return std::max<std::int64_t>(width_of(layer.inputs.front()), 2);
}

std::optional<Kernel> convolution_of(const Layer& layer, const LayerFigures& figures) {
  const Tensor &input = layer.inputs.front(), &output = layer.outputs.front();
  const Filter& filter = *layer.filter;
  const std::int64_t in = input.dimensions[1], out = output.dimensions[1];
  if (in % filter.groups != 0 || out % filter.groups != 0) return std::nullopt;
  // Depthwise convolutions are memory-bound.
  if (filter.groups > 1 && filter.groups == in)
    return Kernel{TimeClass::elementwise, StreamWork{*bytes_moved(figures)}};
  const std::optional<TimeClass> found = convolution_class(layer);
  if (!found) return std::nullopt;
  return Kernel{
      *found, ConvolutionWork{.batch = input.dimensions[0],
                              .in_channels = filter.groups * sum_length(layer, in / filter.groups),
                              .out_channels = out,
                              .groups = filter.groups,
                              .in = positions(input),
                              .out = positions(output),
                              .window = filter.window,
                              .number_bytes = operand_bytes(layer),
                              .channels_last = input.layout != "NCHW"}};
}

/// True for a region's kernels with products, and for convolutions without known sizes.
bool may_have_products(const Layer& layer, const std::optional<std::int64_t>& flops,
                       std::int64_t bytes) {
  // Element-wise kernels compute a few FLOPs for a number, so few for each byte.
  constexpr std::int64_t most_flops_per_byte = 16;
  if (flops.value_or(0) / most_flops_per_byte > bytes) return true;
  // Generated kernels have codes in their names.
  if (layer.type == "kgen")
    for (const std::string_view code : {"mha", "gemm", "Fc"})
      if (layer.name.find(code) != std::string::npos) return true;
  const auto has = [&](std::string_view word) {
    return layer.type.find(word) != std::string::npos ||
           layer.subtype.find(word) != std::string::npos;
  };
  return layer.type.empty() || layer.type == "fusion" || layer.type == "conv" || has("Conv") ||
         has("Deconv") || has("gemm") || has("Gemm") || has("Cublas") || has("MatrixMultiply") ||
         layer.type == "Myelin" || has("Plugin") || has("RNN") || has("Loop");
}

/// True for a region's kernel with exactly one product code in its name, besides fused operators.
bool is_fused_product(const Layer& layer) {
  constexpr std::string_view code = "Fc";
  const std::size_t first = layer.name.find(code);
  return (layer.type == "fusion" || layer.type == "kgen") && first != std::string::npos &&
         layer.name.find(code, first + code.size()) == std::string::npos;
}

bool is_product(const Layer& layer) {
  return is_fused_product(layer) || layer.type == "gemm" || layer.subtype == "MatrixMultiply" ||
         layer.type.find("MatrixMultiply") != std::string::npos;
}

/// k follows from FLOPs and the result's sizes.
std::optional<Kernel> product_of(const Layer& layer, const std::optional<std::int64_t>& flops) {
  const std::optional<TimeClass> found = product_class(layer);
  const Tensor& output = layer.outputs.front();
  if (!found || !flops || layer.outputs.size() != 1) return std::nullopt;
  std::int64_t numbers = 1;
  for (const std::int64_t size : output.dimensions) numbers *= size;
  const std::int64_t n = output.dimensions.back(), k = *flops / 2 / numbers;
  if (k < 1) return std::nullopt;
  return Kernel{*found, ProductWork{.m = numbers / n,
                                    .n = n,
                                    .k = sum_length(layer, k),
                                    .operand_bytes = operand_bytes(layer),
                                    .result_bytes = width_of(output)}};
}

bool is_attention(const Layer& layer) {
  return (layer.type == "kgen" || layer.type == "fusion") &&
         layer.name.find("mha") != std::string::npos;
}

/// Queries come first and values last, each [..., positions, numbers of a head], as Myelin's
/// kernels have them; FLOPs have to agree with that.
std::optional<Kernel> attention_of(const Layer& layer, const std::optional<std::int64_t>& flops) {
  const Tensor &queries = layer.inputs.front(), &values = layer.inputs.back(),
               &output = layer.outputs.front();
  const std::size_t rank = queries.dimensions.size();
  if (!flops || layer.outputs.size() != 1 || rank < 3 || queries.dimensions != output.dimensions ||
      values.dimensions.size() != rank || is_8bit(queries))
    return std::nullopt;
  AttentionWork work{.queries = queries.dimensions[rank - 2],
                     .keys = values.dimensions[rank - 2],
                     .head_dim = queries.dimensions[rank - 1],
                     .number_bytes = width_of(queries)};
  std::int64_t wanted = 4 * work.head_dim * work.queries;
  for (std::size_t i = 0; i + 2 < rank; ++i) work.batch *= queries.dimensions[i];
  // Softmax, scale and mask add a few FLOPs for each pair of positions.
  if (__builtin_mul_overflow(wanted, work.keys, &wanted) ||
      __builtin_mul_overflow(wanted, work.batch, &wanted) || *flops < wanted ||
      *flops - wanted > wanted / 4)
    return std::nullopt;
  return Kernel{is_16bit(queries) ? TimeClass::attention_flash : TimeClass::attention_fp32, work};
}

}  // namespace

std::optional<Kernel> kernel_of(const Layer& layer, const LayerFigures& figures,
                                const std::optional<std::int64_t>& flops) {
  const auto moved = bytes_moved(figures);
  // A copy needs only its bytes.
  if (figures.has_kernel && figures.is_reformat && moved)
    return Kernel{TimeClass::copy, StreamWork{*moved}};
  if (!figures.has_kernel || layer.inputs.empty() || layer.outputs.empty() ||
      !std::ranges::all_of(layer.inputs, has_sizes) ||
      !std::ranges::all_of(layer.outputs, has_sizes) || !moved)
    return std::nullopt;
  if (layer.filter && layer.subtype == "Convolution" &&
      layer.type.find("Deconv") == std::string::npos)
    return convolution_of(layer, figures);
  if (is_attention(layer)) return attention_of(layer, flops);
  if (is_product(layer)) return product_of(layer, flops);
  if (may_have_products(layer, flops, *moved)) return std::nullopt;
  return Kernel{layer.subtype == "Pooling" ? TimeClass::pooling : TimeClass::elementwise,
                StreamWork{*moved}};
}

}  // namespace symprof::engine

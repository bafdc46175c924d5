// Operators of a program that torch's pt2e quantizer converted (torch/ao/quantization/fx/
// _decomposed.py). Each is the calls that its Python makes, without gradients.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <optional>
#include <vector>

#include "meta/kernels/package_operators.h"

namespace symprof::kernels {
namespace quantized_decomposed {
namespace {

using at::ScalarType;
using at::Tensor;
using std::optional;
using Two = std::tuple<Tensor, Tensor>;

Tensor as_float(const Tensor& x) {
  return x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
}

Tensor quantize_per_tensor(const Tensor& input, double scale, int64_t zero_point, int64_t least,
                           int64_t most, ScalarType dtype) {
  const at::NoGradGuard without_gradients;
  return at::clamp(at::add(at::round(at::mul(as_float(input), 1.0 / scale)), zero_point), least,
                   most)
      .to(dtype);
}

Tensor dequantize_per_tensor(const Tensor& input, double scale, int64_t zero_point, int64_t,
                             int64_t, ScalarType, optional<ScalarType> made) {
  const at::NoGradGuard without_gradients;
  return at::mul(at::sub(input.to(made.value_or(at::kFloat)), zero_point), scale);
}

/// The overload for tensors reads them; their values change neither shapes nor costs.
Tensor quantize_by_tensors(const Tensor& input, const Tensor&, const Tensor&, int64_t least,
                           int64_t most, ScalarType dtype) {
  return quantize_per_tensor(input, 1.0, 0, least, most, dtype);
}

Tensor dequantize_by_tensors(const Tensor& input, const Tensor&, const Tensor&, int64_t least,
                             int64_t most, ScalarType dtype, optional<ScalarType> made) {
  return dequantize_per_tensor(input, 1.0, 0, least, most, dtype, made);
}

/// Numbers of the channels, ready to meet the tensor with `axis` first.
Tensor for_channels(const Tensor& numbers, int64_t rank) {
  std::vector<int64_t> sizes(static_cast<std::size_t>(rank), 1);
  if (rank > 0) sizes[0] = numbers.size(0);
  return numbers.view(sizes);
}

Tensor quantize_per_channel(const Tensor& given, const Tensor& scales, const Tensor& zero_points,
                            int64_t axis, int64_t least, int64_t most, ScalarType dtype) {
  const at::NoGradGuard without_gradients;
  const Tensor input = as_float(given).transpose(0, axis);
  const Tensor inverse = at::reciprocal(for_channels(scales, input.dim()));
  const Tensor rounded = at::round(at::mul(input, inverse));
  return at::clamp(at::add(rounded, for_channels(zero_points, input.dim())), least, most)
      .transpose(0, axis)
      .to(dtype);
}

Tensor dequantize_per_channel(const Tensor& given, const Tensor& scales,
                              const optional<Tensor>& zero_points, int64_t axis, int64_t, int64_t,
                              ScalarType, optional<ScalarType> made) {
  const at::NoGradGuard without_gradients;
  Tensor moved = given.transpose(0, axis);
  if (zero_points && zero_points->defined())
    moved = at::sub(moved, for_channels(*zero_points, moved.dim()));
  moved = at::mul(moved, for_channels(scales, moved.dim()));
  return moved.to(made.value_or(at::kFloat)).transpose(0, axis);
}

Two choose_per_token(const Tensor& input, ScalarType) {
  const at::NoGradGuard without_gradients;
  constexpr double largest = 127, smallest_scale = 1e-5;
  Tensor scales = at::amax(at::abs(input), -1, /*keepdim=*/true);
  if (scales.scalar_type() == at::kHalf) scales = scales.to(at::kFloat);
  scales = at::div(at::clamp_min(scales, smallest_scale), largest);
  return {scales, at::zeros_like(scales)};
}

Two choose_per_token_asymmetric(const Tensor& input, ScalarType) {
  const at::NoGradGuard without_gradients;
  constexpr double least = -128, most = 127, epsilon = 1.1920928955078125e-07;
  const Tensor low = at::amin(input, -1, true), high = at::amax(input, -1, true);
  const Tensor below = at::minimum(low, at::zeros_like(low));
  const Tensor above = at::maximum(high, at::zeros_like(high));
  const Tensor scale = at::clamp_min(at::div(at::sub(above, below), most - least), epsilon);
  const Tensor first = at::div(below, scale), last = at::div(above, scale);
  const Tensor error = at::add(at::add(first, least), at::add(last, most));
  const Tensor zero = at::where(at::gt(error, 0), at::rsub(first, least), at::rsub(last, most));
  return {scale.to(at::kDouble), at::round(at::clamp(zero, least, most)).to(at::kLong)};
}

Tensor quantize_per_token(const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                          int64_t least, int64_t most, ScalarType dtype) {
  const at::NoGradGuard without_gradients;
  const Tensor moved = at::add(at::mul(input, at::reciprocal(scales)), zero_points);
  return at::clamp(at::round(moved), least, most).to(dtype);
}

Tensor dequantize_per_token(const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                            int64_t, int64_t, ScalarType, ScalarType made) {
  const at::NoGradGuard without_gradients;
  return at::mul(at::sub(input, zero_points), scales).to(made);
}

Tensor convert(const Tensor& input, ScalarType dtype) {
  const at::NoGradGuard without_gradients;
  return input.to(dtype);
}

void define_schemas(torch::Library& library) {
  for (const char* schema : {
           "quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
           "int quant_max, ScalarType dtype) -> Tensor",
           "quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
           "int quant_min, int quant_max, ScalarType dtype) -> Tensor",
           "dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
           "int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
           "dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
           "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> "
           "Tensor",
           "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
           "int quant_min, int quant_max, ScalarType dtype) -> Tensor",
           "dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, "
           "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> "
           "Tensor",
           "choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
           "choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> "
           "(Tensor, Tensor)",
           "quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, "
           "int quant_max, ScalarType dtype) -> Tensor",
           "dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, "
           "int quant_max, ScalarType dtype, ScalarType output_dtype) -> Tensor",
           "convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor",
       })
    library.def(schema);
}

}  // namespace
}  // namespace quantized_decomposed

std::vector<torch::Library> define_quantized_decomposed() {
  using namespace quantized_decomposed;
  std::vector<torch::Library> libraries;
  libraries.push_back(library_of("quantized_decomposed", torch::Library::FRAGMENT));
  define_schemas(libraries.back());
  libraries.push_back(library_of("quantized_decomposed", torch::Library::IMPL,
                                 c10::DispatchKey::CompositeImplicitAutograd));
  torch::Library& calls = libraries.back();
  calls.impl("quantize_per_tensor", &quantize_per_tensor);
  calls.impl("quantize_per_tensor.tensor", &quantize_by_tensors);
  calls.impl("dequantize_per_tensor", &dequantize_per_tensor);
  calls.impl("dequantize_per_tensor.tensor", &dequantize_by_tensors);
  calls.impl("quantize_per_channel", &quantize_per_channel);
  calls.impl("dequantize_per_channel", &dequantize_per_channel);
  calls.impl("choose_qparams_per_token", &choose_per_token);
  calls.impl("choose_qparams_per_token_asymmetric", &choose_per_token_asymmetric);
  calls.impl("quantize_per_token", &quantize_per_token);
  calls.impl("dequantize_per_token", &dequantize_per_token);
  calls.impl("convert_element_type.no_fuse", &convert);
  return libraries;
}

}  // namespace symprof::kernels

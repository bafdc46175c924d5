// Tensors created from shapes and numbers. Small integer tensors stay on the host, for shape
// arithmetic; others are created on the device.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// The first element of a tensor attribute; 0.0f if omitted.
std::pair<at::ScalarType, at::Scalar> fill_value(const OnnxCall& call) {
  const auto value = call.tensor("value");
  if (!value) return {at::kFloat, 0.0};
  const at::ScalarType type = scalar_type(value->spec.dtype);
  at::Tensor one = at::zeros({}, host_options(type));
  if (value->data.size() != one.itemsize())
    call.fail("the attribute 'value' does not have one element");
  std::memcpy(one.mutable_data_ptr(), value->data.data(), one.itemsize());
  return {type, one.item()};
}

Tensors constant_of_shape(OnnxCall& call) {
  const Integers sizes = call.integers_of(0);
  const auto [type, value] = fill_value(call);
  return {at::full(sizes, value, result_options(call, type, c10::multiply_integers(sizes)))};
}

Tensors range(OnnxCall& call) {
  const at::ScalarType type = call.input(0).scalar_type();
  const double start = call.real_of(0), limit = call.real_of(1), delta = call.real_of(2);
  if (delta == 0.0) call.fail("a delta of 0");
  const double count = std::max(std::ceil((limit - start) / delta), 0.0);
  if (count > 1e12) call.fail(fmt::format("a range of {} elements", count));
  const auto options = result_options(call, type, static_cast<std::int64_t>(count));
  if (count == 0) return {at::empty({0}, options)};
  if (at::isIntegralType(type, /*includeBool=*/true))
    return {at::arange(call.integer_of(0), call.integer_of(1), call.integer_of(2), options)};
  return {at::arange(start, limit, delta, options)};
}

/// The attribute's dtype; the input's if omitted.
at::ScalarType wanted_dtype(const OnnxCall& call) {
  const std::int64_t type = call.integer("dtype", 0);
  return type == 0 ? call.input(0).scalar_type() : dtype_of_attribute(call, type);
}

Tensors eye_like(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (x.dim() != 2) call.fail(fmt::format("a tensor of rank {}; wanted a matrix", x.dim()));
  const auto options = at::device(x.device()).dtype(wanted_dtype(call));
  const std::int64_t k = call.integer("k", 0);
  if (k == 0) return {at::eye(x.size(0), x.size(1), options)};
  // The k-th diagonal: columns equal to rows plus k.
  const auto integers = at::device(x.device()).dtype(at::kLong);
  const at::Tensor rows = at::arange(x.size(0), integers).unsqueeze(1);
  const at::Tensor columns = at::arange(x.size(1), integers).unsqueeze(0);
  return {at::eq(columns, at::add(rows, k)).to(x.device(), wanted_dtype(call))};
}

/// values = [off, on]; indices below 0 count from the depth.
Tensors one_hot(OnnxCall& call) {
  const at::Tensor& indices = call.input(0);
  const std::int64_t depth = call.integer_of(1);
  const std::int64_t axis = checked_axis(call, call.integer("axis", -1), indices.dim() + 1);
  const auto options = at::device(indices.device()).dtype(at::kLong);
  Integers sizes(static_cast<std::size_t>(indices.dim()) + 1, 1);
  sizes[static_cast<std::size_t>(axis)] = depth;
  const at::Tensor integers = indices.to(indices.device(), at::kLong);
  const at::Tensor wrapped =
      at::where(at::lt(integers, 0), at::add(integers, depth), integers).unsqueeze(axis);
  const at::Tensor hit = at::eq(wrapped, at::arange(depth, options).reshape(sizes));
  const at::Tensor values = to_device_of(call.input(2), indices);
  return {at::where(hit, values.select(0, 1), values.select(0, 0))};
}

Tensors random_normal_like(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor noise = at::randn(x.sizes(), at::device(x.device()).dtype(wanted_dtype(call)));
  const double mean = call.real("mean", 0.0), scale = call.real("scale", 1.0);
  if (mean == 0.0 && scale == 1.0) return {noise};
  return {at::add(at::mul(noise, scale), mean)};
}

Tensors random_uniform_like(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor noise = at::rand(x.sizes(), at::device(x.device()).dtype(wanted_dtype(call)));
  const double low = call.real("low", 0.0), high = call.real("high", 1.0);
  if (low == 0.0 && high == 1.0) return {noise};
  return {at::add(at::mul(noise, high - low), low)};
}

Integers given_shape(const OnnxCall& call) {
  const auto shape = call.integers("shape");
  if (!shape) call.fail("no shape");
  return *shape;
}

Tensors random_normal(OnnxCall& call) {
  const auto options =
      at::device(call.device).dtype(dtype_of_attribute(call, call.integer("dtype", 1)));
  const at::Tensor noise = at::randn(given_shape(call), options);
  return {at::add(at::mul(noise, call.real("scale", 1.0)), call.real("mean", 0.0))};
}

Tensors random_uniform(OnnxCall& call) {
  const auto options =
      at::device(call.device).dtype(dtype_of_attribute(call, call.integer("dtype", 1)));
  const double low = call.real("low", 0.0), high = call.real("high", 1.0);
  return {at::add(at::mul(at::rand(given_shape(call), options), high - low), low)};
}

/// Draws `sample_size` samples from the unnormalized log-probabilities of each row.
Tensors multinomial(OnnxCall& call) {
  const at::Tensor weights = at::softmax(call.input(0), -1);
  const at::Tensor drawn =
      at::multinomial(weights, call.integer("sample_size", 1), /*replacement=*/true);
  return {drawn.to(drawn.device(), dtype_of_attribute(call, call.integer("dtype", 6)))};
}

Tensors bernoulli(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  return {at::bernoulli(x).to(x.device(), wanted_dtype(call))};
}

constexpr Lowering generation_rows[] = {
    {"onnx::Bernoulli", bernoulli},
    {"onnx::ConstantOfShape", constant_of_shape},
    {"onnx::EyeLike", eye_like},
    {"onnx::OneHot", one_hot},
    {"onnx::Multinomial", multinomial},
    {"onnx::RandomNormal", random_normal},
    {"onnx::RandomNormalLike", random_normal_like},
    {"onnx::RandomUniform", random_uniform},
    {"onnx::RandomUniformLike", random_uniform_like},
    {"onnx::Range", range},
};

}  // namespace

Lowerings generation_lowerings() { return generation_rows; }

}  // namespace symprof::lowering

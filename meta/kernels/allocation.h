// How shape kernels allocate their outputs.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace symprof::kernels {

/// A contiguous tensor of `sizes` with the dtype of `like`, or `dtype` if given.
inline at::Tensor fresh(at::IntArrayRef sizes, const at::Tensor& like,
                        std::optional<at::ScalarType> dtype = std::nullopt) {
  return at::empty(sizes, like.options().dtype(dtype.value_or(like.scalar_type())));
}

/// A tensor of `sizes` in the given memory format.
inline at::Tensor fresh_in(at::IntArrayRef sizes, const at::Tensor& like, at::MemoryFormat format) {
  return at::empty(sizes, like.options(), format);
}

/// A contiguous tensor of the sizes of `like`, whatever its strides.
inline at::Tensor contiguous_like(const at::Tensor& like) { return fresh(like.sizes(), like); }

/// A tensor of the sizes and the suggested memory format of `like`.
inline at::Tensor format_like(const at::Tensor& like) {
  return fresh_in(like.sizes(), like, like.suggest_memory_format());
}

/// The dtype in which CUDA kernels keep statistics: f32 for f16 and bf16 (ATen/AccumulateType.h).
inline at::ScalarType statistics_dtype(const at::Tensor& input) {
  return input.scalar_type() == at::kHalf || input.scalar_type() == at::kBFloat16
             ? at::kFloat
             : input.scalar_type();
}

/// True if an optional argument holds a tensor.
inline bool present(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined();
}

}  // namespace symprof::kernels

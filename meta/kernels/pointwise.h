// Outputs of elementwise operators: broadcast sizes and strides as from TensorIterator on any
// device.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace symprof::kernels {

/// The output of an elementwise operator over `inputs`: broadcast, in the inputs' stride order,
/// with the promoted dtype or `dtype` if given.
at::Tensor pointwise(at::TensorList inputs, std::optional<at::ScalarType> dtype = std::nullopt);

/// Writes that output to `out`, which is resized if its size differs and keeps its dtype.
at::Tensor& pointwise_into(at::TensorList inputs, at::Tensor& out);

/// Resizes `out` to `sizes` (contiguous) if its sizes differ, as CUDA's `out=` kernels do.
at::Tensor& resize_into(at::Tensor& out, at::IntArrayRef sizes);

}  // namespace symprof::kernels

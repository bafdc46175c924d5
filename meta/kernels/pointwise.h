// Elementwise outputs: broadcast sizes and strides as TensorIterator gives them on any device.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace symprof::kernels {

/// The output of an elementwise operator over `inputs`: broadcast, in the stride order of the
/// inputs. The dtype is the promoted one unless `dtype` says otherwise.
at::Tensor pointwise(at::TensorList inputs, std::optional<at::ScalarType> dtype = std::nullopt);

/// Puts that output into `out`, which is resized where its size differs and keeps its dtype.
at::Tensor& pointwise_into(at::TensorList inputs, at::Tensor& out);

/// Gives `out` these sizes (contiguous) where its own differ, as CUDA's `out=` kernels do.
at::Tensor& resize_into(at::Tensor& out, at::IntArrayRef sizes);

}  // namespace symprof::kernels

// Conversions between LibTorch's types and symprof's.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/tensor_spec.h"

namespace symprof::meta {

/// The two enumerations have the same values.
inline at::ScalarType scalar_type(DType dtype) { return static_cast<at::ScalarType>(dtype); }
inline DType dtype_of(at::ScalarType type) { return static_cast<DType>(type); }

/// Dtype, sizes, strides and offset of a defined tensor.
TensorSpec spec_of(const at::Tensor& tensor);

}  // namespace symprof::meta

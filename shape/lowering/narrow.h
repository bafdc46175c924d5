// Sub-byte dtypes: INT4, UINT4, INT2, UINT2 and FLOAT4E2M1.
//
// A fake tensor is converted by one call. LibTorch's CPU kernels treat these dtypes as bytes: a
// real tensor holds one number per byte (sign-extended integers, FLOAT4E2M1 as its bits) and is
// converted in steps.
#pragma once

#include <ATen/core/Tensor.h>

namespace symprof::lowering {

/// True for the dtypes above.
bool is_narrow(at::ScalarType type);

/// `x` converted to `type`, from or to any dtype. Integers keep their lowest bits; FLOAT4E2M1
/// rounds to nearest, ties to even (ONNX, Cast).
at::Tensor to_type(const at::Tensor& x, at::ScalarType type);

}  // namespace symprof::lowering

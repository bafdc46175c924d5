// Numbers of less than a byte: INT4, UINT4, INT2, UINT2 and FLOAT4E2M1.
//
// A fake tensor of them is converted by one call. LibTorch's CPU kernels know these dtypes only as
// bytes: a real tensor holds one number in each byte (integers with their sign, FLOAT4E2M1 as its
// bits), and is converted in steps.
#pragma once

#include <ATen/core/Tensor.h>

namespace symprof::lowering {

/// True for the dtypes of these numbers.
bool is_narrow(at::ScalarType type);

/// `x` as `type`, from or to any dtype. Integers keep their lowest bits; FLOAT4E2M1 takes the
/// nearest of its numbers, of two the even one (ONNX, Cast).
at::Tensor to_type(const at::Tensor& x, at::ScalarType type);

}  // namespace symprof::lowering

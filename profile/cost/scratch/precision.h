// The precision in which kernels compute.
#pragma once

#include "base/tensor_spec.h"

namespace symprof::profile {

inline bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

/// Bytes of an element of at::acc_type (aten/src/ATen/AccumulateType.h): half precision is summed
/// in fp32.
inline std::int64_t accumulated_bytes(DType dtype) {
  return element_bytes(is_half(dtype) ? DType::float32 : dtype);
}

/// c10::promoteTypes for real dtypes.
DType promoted(DType a, DType b);

}  // namespace symprof::profile

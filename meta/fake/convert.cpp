#include "meta/fake/convert.h"

namespace symprof::meta {
namespace {

// DType has the values of c10::ScalarType, so that a conversion is a cast.
static_assert(static_cast<int>(DType::float32) == static_cast<int>(at::kFloat));
static_assert(static_cast<int>(DType::int64) == static_cast<int>(at::kLong));
static_assert(static_cast<int>(DType::boolean) == static_cast<int>(at::kBool));
static_assert(static_cast<int>(DType::bfloat16) == static_cast<int>(at::kBFloat16));
static_assert(static_cast<int>(DType::complex128) == static_cast<int>(at::kComplexDouble));
static_assert(static_cast<int>(DType::float8_e4m3fn) == static_cast<int>(at::kFloat8_e4m3fn));
static_assert(static_cast<int>(DType::uint64) == static_cast<int>(at::kUInt64));
static_assert(static_cast<int>(DType::uint2) == static_cast<int>(at::kUInt2));
static_assert(static_cast<int>(DType::int4) == static_cast<int>(at::kInt4));
static_assert(static_cast<int>(DType::float4_e2m1) == static_cast<int>(at::kBits8));
static_assert(static_cast<int>(DType::float4_e2m1fn_x2) == static_cast<int>(at::kFloat4_e2m1fn_x2));

}  // namespace

TensorSpec spec_of(const at::Tensor& tensor) {
  return {dtype_of(tensor.scalar_type()), tensor.sizes().vec(), tensor.strides().vec(),
          tensor.storage_offset()};
}

}  // namespace symprof::meta

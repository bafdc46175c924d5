// The description of a tensor, as plain data without LibTorch.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symprof {

/// Element types. The values are those of c10::ScalarType (c10/core/ScalarType.h), so that a
/// conversion is a cast; meta/convert.cpp asserts it.
enum class DType : std::int8_t {
  uint8 = 0,
  int8 = 1,
  int16 = 2,
  int32 = 3,
  int64 = 4,
  float16 = 5,
  float32 = 6,
  float64 = 7,
  complex32 = 8,
  complex64 = 9,
  complex128 = 10,
  boolean = 11,
  qint8 = 12,
  quint8 = 13,
  qint32 = 14,
  bfloat16 = 15,
  /// ONNX's FLOAT4E2M1. PyTorch's float4_e2m1fn_x2 stores pairs and would halve a size, so tensors
  /// hold one number per element of torch.bits8, which is otherwise unused.
  float4_e2m1 = 21,
  float8_e5m2 = 23,
  float8_e4m3fn = 24,
  float8_e5m2fnuz = 25,
  float8_e4m3fnuz = 26,
  uint16 = 27,
  uint32 = 28,
  uint64 = 29,
  uint2 = 31,
  uint4 = 33,
  int2 = 38,
  int4 = 40,
  float8_e8m0fnu = 44,
  float4_e2m1fn_x2 = 45,  ///< Two numbers per one-byte element.
};

/// Size of one element in bits.
std::int64_t element_bits(DType dtype);
/// Size of one element in bytes as LibTorch stores it: 1 for a sub-byte dtype. `packed_bytes` is
/// the size of several elements on a device.
std::int64_t element_bytes(DType dtype);
/// Bytes of `elements` packed: two 4-bit numbers share a byte.
std::int64_t packed_bytes(DType dtype, std::int64_t elements);
/// True for real floating-point types, including types of a byte or less.
bool is_floating_point(DType dtype);
/// PyTorch's name without the prefix: "float32", "bool".
std::string_view name(DType dtype);
/// Accepts PyTorch's and ONNX's names and the usual short ones ("bf16", "fp32", "half", "long").
std::optional<DType> parse_dtype(std::string_view text);

/// A tensor's dtype and geometry; sizes, strides and offset count elements.
struct TensorSpec {
  DType dtype = DType::float32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t storage_offset = 0;

  /// The number of elements.
  std::int64_t numel() const;
  /// numel × element size, packed. A view's bytes, not its storage's.
  std::int64_t bytes() const { return packed_bytes(dtype, numel()); }
  bool operator==(const TensorSpec&) const = default;
};

/// Row-major strides for `sizes`, as from at::empty.
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes);

/// "float32[8, 3, 224, 224]".
std::string to_string(const TensorSpec& spec);

}  // namespace symprof

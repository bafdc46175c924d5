#include "base/tensor_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <limits>

namespace symprof {
namespace {

/// PyTorch 2.14 added it; no code of ours names it.
constexpr auto bcomplex32 = static_cast<DType>(46);

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::int64_t bits;
  bool floating_point;
};

constexpr std::array rows = {
    DTypeRow{DType::float32, "float32", 32, true},
    DTypeRow{DType::bfloat16, "bfloat16", 16, true},
    DTypeRow{DType::float16, "float16", 16, true},
    DTypeRow{DType::float64, "float64", 64, true},
    DTypeRow{DType::int64, "int64", 64, false},
    DTypeRow{DType::int32, "int32", 32, false},
    DTypeRow{DType::int16, "int16", 16, false},
    DTypeRow{DType::int8, "int8", 8, false},
    DTypeRow{DType::uint8, "uint8", 8, false},
    DTypeRow{DType::boolean, "bool", 8, false},
    DTypeRow{DType::uint16, "uint16", 16, false},
    DTypeRow{DType::uint32, "uint32", 32, false},
    DTypeRow{DType::uint64, "uint64", 64, false},
    DTypeRow{DType::complex32, "complex32", 32, false},
    DTypeRow{bcomplex32, "bcomplex32", 32, false},
    DTypeRow{DType::complex64, "complex64", 64, false},
    DTypeRow{DType::complex128, "complex128", 128, false},
    DTypeRow{DType::float8_e4m3fn, "float8_e4m3fn", 8, true},
    DTypeRow{DType::float8_e5m2, "float8_e5m2", 8, true},
    DTypeRow{DType::float8_e4m3fnuz, "float8_e4m3fnuz", 8, true},
    DTypeRow{DType::float8_e5m2fnuz, "float8_e5m2fnuz", 8, true},
    DTypeRow{DType::float8_e8m0fnu, "float8_e8m0fnu", 8, true},
    DTypeRow{DType::float4_e2m1fn_x2, "float4_e2m1fn_x2", 8, true},
    DTypeRow{DType::float4_e2m1, "float4_e2m1", 4, true},
    DTypeRow{DType::uint4, "uint4", 4, false},
    DTypeRow{DType::int4, "int4", 4, false},
    DTypeRow{DType::uint2, "uint2", 2, false},
    DTypeRow{DType::int2, "int2", 2, false},
    DTypeRow{DType::qint8, "qint8", 8, false},
    DTypeRow{DType::quint8, "quint8", 8, false},
    DTypeRow{DType::qint32, "qint32", 32, false},
};

const DTypeRow& row(DType dtype) {
  for (const DTypeRow& candidate : rows)
    if (candidate.dtype == dtype) return candidate;
  return rows[0];
}

constexpr std::array<std::pair<std::string_view, DType>, 24> other_names = {{
    {"fp32", DType::float32},
    {"float", DType::float32},
    {"f32", DType::float32},
    {"bf16", DType::bfloat16},
    {"fp16", DType::float16},
    {"half", DType::float16},
    {"f16", DType::float16},
    {"fp64", DType::float64},
    {"double", DType::float64},
    {"f64", DType::float64},
    {"long", DType::int64},
    {"i64", DType::int64},
    {"int", DType::int32},
    {"i32", DType::int32},
    {"short", DType::int16},
    {"boolean", DType::boolean},
    {"byte", DType::uint8},
    {"char", DType::int8},
    {"float8e4m3fn", DType::float8_e4m3fn},
    {"float8e5m2", DType::float8_e5m2},
    {"i8", DType::int8},
    {"float8e8m0", DType::float8_e8m0fnu},
    {"fp4", DType::float4_e2m1},
    {"float4e2m1", DType::float4_e2m1},
}};

}  // namespace

std::int64_t element_bits(DType dtype) { return row(dtype).bits; }

std::int64_t element_bytes(DType dtype) { return (element_bits(dtype) + 7) / 8; }

std::int64_t packed_bytes(DType dtype, std::int64_t elements) {
  const std::int64_t bits = element_bits(dtype);
  if (bits >= 8) return elements * (bits / 8);
  const std::int64_t per_byte = 8 / bits;
  return elements / per_byte + (elements % per_byte != 0 ? 1 : 0);
}

bool is_floating_point(DType dtype) { return row(dtype).floating_point; }

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view text) {
  if (text.starts_with("torch.")) text.remove_prefix(6);
  for (const DTypeRow& candidate : rows)
    if (candidate.name == text) return candidate.dtype;
  for (const auto& [other, dtype] : other_names)
    if (other == text) return dtype;
  return std::nullopt;
}

std::int64_t TensorSpec::numel() const {
  std::int64_t product = 1;
  for (std::int64_t size : sizes) product *= size;
  return product;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    // A tensor with more elements than 64 bits can count is empty, or its size is refused by the
    // caller.
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(sizes[i], 1), &stride))
      stride = std::numeric_limits<std::int64_t>::max();
  }
  return strides;
}

std::string to_string(const TensorSpec& spec) {
  return fmt::format("{}[{}]", name(spec.dtype), fmt::join(spec.sizes, ", "));
}

}  // namespace symprof

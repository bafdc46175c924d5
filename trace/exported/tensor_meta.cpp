#include "trace/exported/tensor_meta.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/exported/srepr.h"

namespace symprof::trace::exported {
namespace {

constexpr std::int64_t strided = 7;  // Layout.Strided of the schema.
constexpr std::int64_t complex_half = 9, boolean_code = 12;

std::vector<Dimension> dimension_list(Json list, const Place& place) {
  std::vector<Dimension> result;
  for (Json element : array(list, place)) result.push_back(dimension(element, place));
  return result;
}

/// Sizes, strides and offsets are never negative; -1 stands for a symbol without an example.
void check(const Dimension& dimension, const Place& place) {
  if (dimension.size < (dimension.symbol.empty() ? 0 : -1))
    fail(place, fmt::format("a tensor with the size or stride {}", dimension.size));
}

}  // namespace

DType dtype_of(std::int64_t code, const Place& place) {
  static_assert(static_cast<int>(DType::complex32) == complex_half - 1 &&
                static_cast<int>(DType::boolean) == boolean_code - 1);
  if (code >= 1 && code <= boolean_code) return static_cast<DType>(code - 1);
  switch (code) {
    case 13:
      return DType::bfloat16;
    case 28:
      return DType::uint16;
    case 29:
      return DType::float8_e4m3fn;
    case 30:
      return DType::float8_e5m2;
    case 31:
      return DType::float8_e4m3fnuz;
    case 32:
      return DType::float8_e5m2fnuz;
    case 34:
      return DType::uint32;
    case 35:
      return DType::uint64;
    default:
      fail(place, fmt::format("unknown dtype code {}", code),
           "Known are the dtypes of PyTorch 2.13 without float8_e8m0fnu.");
  }
}

Dimension dimension(Json sym_int, const Place& place) {
  const Tagged tag = tagged(sym_int, place);
  if (tag.tag == "as_int") return {integer(tag.value, place), {}};
  if (tag.tag != "as_expr") fail(place, fmt::format("unknown kind of size '{}'", tag.tag));
  Dimension result{-1, infix(text(member(tag.value, "expr_str", place), place), place)};
  if (const auto hint = optional_member(tag.value, "hint"))
    if (const auto example = optional_member(*hint, "as_int"))
      result.size = integer(*example, place);
  return result;
}

TensorMeta tensor_meta(Json meta, const Place& place) {
  TensorMeta result;
  result.spec.dtype = dtype_of(integer(member(meta, "dtype", place), place), place);
  if (integer(member(meta, "layout", place), place) != strided)
    fail(place, "a tensor whose layout is not strided",
         "Sparse and nested tensors are not supported: export the model with dense ones.");
  std::vector<Dimension> sizes = dimension_list(member(meta, "sizes", place), place);
  const std::vector<Dimension> strides = dimension_list(member(meta, "strides", place), place);
  const Dimension offset = dimension(member(meta, "storage_offset", place), place);
  if (sizes.size() != strides.size()) fail(place, "a tensor with more strides than sizes");
  bool symbolic_size = false;
  std::int64_t bytes = element_bytes(result.spec.dtype);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    check(sizes[i], place);
    check(strides[i], place);
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(sizes[i].size, 1), &bytes))
      fail(place, "a tensor with more bytes than 64 bits count");
    symbolic_size |= !sizes[i].symbol.empty();
    result.symbolic |= !sizes[i].symbol.empty() || !strides[i].symbol.empty();
    result.spec.sizes.push_back(sizes[i].size);
    result.spec.strides.push_back(strides[i].size);
  }
  check(offset, place);
  result.symbolic |= !offset.symbol.empty();
  result.spec.storage_offset = offset.size;
  result.requires_grad = boolean(member(meta, "requires_grad", place), place);
  result.device = text(member(member(meta, "device", place), "type", place), place);
  if (symbolic_size) result.dimensions = std::move(sizes);
  return result;
}

}  // namespace symprof::trace::exported

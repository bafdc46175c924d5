#include "workbench/constants.h"

#include <algorithm>
#include <cstring>

#include "base/float8.h"
#include "base/float_bytes.h"

namespace symprof::workbench {
namespace {

template <class T, class Out>
std::vector<Out> numbers(const std::vector<std::byte>& bytes, std::size_t most) {
  std::vector<Out> out(std::min(most, bytes.size() / sizeof(T)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof value);
    out[i] = static_cast<Out>(value);  // NOLINT(bugprone-signed-char-misuse): int8 keeps its sign.
  }
  return out;
}

template <class Out>
std::vector<Out> whole_numbers(const ConstantTensor& tensor, std::size_t most) {
  switch (tensor.spec.dtype) {
    case DType::boolean:
    case DType::uint8:
      return numbers<std::uint8_t, Out>(tensor.data, most);
    case DType::int8:
      return numbers<std::int8_t, Out>(tensor.data, most);
    case DType::int16:
      return numbers<std::int16_t, Out>(tensor.data, most);
    case DType::uint16:
      return numbers<std::uint16_t, Out>(tensor.data, most);
    case DType::int32:
      return numbers<std::int32_t, Out>(tensor.data, most);
    case DType::uint32:
      return numbers<std::uint32_t, Out>(tensor.data, most);
    case DType::int64:
      return numbers<std::int64_t, Out>(tensor.data, most);
    default:
      return {};
  }
}

std::shared_ptr<ConstantTensor> empty_constant(DType dtype, std::vector<std::int64_t> sizes) {
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec.dtype = dtype;
  constant->spec.strides = contiguous_strides(sizes);
  constant->spec.sizes = std::move(sizes);
  return constant;
}

template <class T, class In>
void store(const std::vector<In>& values, std::vector<std::byte>& bytes) {
  bytes.resize(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof value);
  }
}

std::vector<double> numbers_of_bytes(const ConstantTensor& tensor, std::size_t most) {
  std::vector<double> out(std::min(most, tensor.data.size()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = float8_value(tensor.spec.dtype, static_cast<std::uint8_t>(tensor.data[i]));
  return out;
}

}  // namespace

std::vector<std::int64_t> integers_of(const ConstantTensor& tensor, std::size_t most) {
  return whole_numbers<std::int64_t>(tensor, most);
}

std::vector<double> reals_of(const ConstantTensor& tensor, std::size_t most) {
  const DType dtype = tensor.spec.dtype;
  if (!is_floating_point(dtype)) return whole_numbers<double>(tensor, most);
  if (dtype == DType::float64) return numbers<double, double>(tensor.data, most);
  if (is_float8(dtype)) return numbers_of_bytes(tensor, most);
  const auto width = static_cast<std::size_t>(element_bytes(dtype));
  const std::size_t count = std::min(most, tensor.data.size() / width);
  const std::vector<std::byte> first(
      tensor.data.begin(), tensor.data.begin() + static_cast<std::ptrdiff_t>(count * width));
  return numbers<double, double>(convert_floats(first, dtype, DType::float64), count);
}

ConstantPointer make_integers(std::vector<std::int64_t> sizes,
                              const std::vector<std::int64_t>& values, DType dtype) {
  auto constant = empty_constant(dtype, std::move(sizes));
  switch (dtype) {
    case DType::boolean:
    case DType::uint8:
      store<std::uint8_t>(values, constant->data);
      break;
    case DType::int8:
      store<std::int8_t>(values, constant->data);
      break;
    case DType::int16:
      store<std::int16_t>(values, constant->data);
      break;
    case DType::uint16:
      store<std::uint16_t>(values, constant->data);
      break;
    case DType::int32:
      store<std::int32_t>(values, constant->data);
      break;
    case DType::uint32:
      store<std::uint32_t>(values, constant->data);
      break;
    case DType::int64:
      store<std::int64_t>(values, constant->data);
      break;
    default:
      return nullptr;
  }
  return constant;
}

ConstantPointer make_constant(DType dtype, std::vector<std::int64_t> sizes,
                              const std::vector<double>& values) {
  auto constant = empty_constant(dtype, std::move(sizes));
  if (is_float8(dtype)) {
    for (const double value : values)
      constant->data.push_back(std::byte{nearest_float8(dtype, value)});
    return constant;
  }
  store<double>(values, constant->data);
  if (dtype != DType::float64)
    constant->data = convert_floats(constant->data, DType::float64, dtype);
  return constant->data.size() == values.size() * static_cast<std::size_t>(element_bytes(dtype))
             ? constant
             : nullptr;
}

}  // namespace symprof::workbench

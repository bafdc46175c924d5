#include <cmath>
#include <cstring>

#include "base/float_bytes.h"
#include "workbench/optimize/evaluate.h"

namespace symprof::workbench {
namespace {

template <class T, class Out>
void append(const std::vector<std::byte>& bytes, std::vector<Out>& out) {
  out.reserve(bytes.size() / sizeof(T));
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    out.push_back(static_cast<Out>(value));
  }
}

template <class Out>
void append_integers(const ConstantTensor& tensor, std::vector<Out>& out) {
  switch (tensor.spec.dtype) {
    case DType::boolean:
    case DType::uint8:
      return append<std::uint8_t>(tensor.data, out);
    case DType::int8:
      return append<std::int8_t>(tensor.data, out);
    case DType::int16:
      return append<std::int16_t>(tensor.data, out);
    case DType::uint16:
      return append<std::uint16_t>(tensor.data, out);
    case DType::int32:
      return append<std::int32_t>(tensor.data, out);
    case DType::uint32:
      return append<std::uint32_t>(tensor.data, out);
    case DType::int64:
      return append<std::int64_t>(tensor.data, out);
    default:
      return;
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

}  // namespace

std::vector<std::int64_t> integers_of(const ConstantTensor& tensor) {
  std::vector<std::int64_t> out;
  append_integers(tensor, out);
  return out;
}

std::vector<double> reals_of(const ConstantTensor& tensor) {
  std::vector<double> out;
  if (!is_floating_point(tensor.spec.dtype))
    append_integers(tensor, out);
  else if (tensor.spec.dtype == DType::float64)
    append<double>(tensor.data, out);
  else
    append<double>(convert_floats(tensor.data, tensor.spec.dtype, DType::float64), out);
  return out;
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
  store<double>(values, constant->data);
  if (dtype != DType::float64)
    constant->data = convert_floats(constant->data, DType::float64, dtype);
  return constant->data.size() == values.size() * static_cast<std::size_t>(element_bytes(dtype))
             ? constant
             : nullptr;
}

}  // namespace symprof::workbench

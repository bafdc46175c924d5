#include "trace/onnx/tensors.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <array>
#include <cstring>

#include "base/error.h"

namespace symprof::trace {
namespace {

using onnx::TensorProto;

/// Appends `value` as `T`: the typed fields of a TensorProto are wider than its elements.
template <class T, class Field>
std::vector<std::byte> narrowed(const Field& field) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(field.size()) * sizeof(T));
  std::byte* out = bytes.data();
  for (const auto element : field) {
    const T value = static_cast<T>(element);
    std::memcpy(out, &value, sizeof(T));
    out += sizeof(T);
  }
  return bytes;
}

/// The data in the typed field for the element type: onnx.proto, comments of TensorProto's fields.
std::vector<std::byte> typed_data(const TensorProto& tensor, DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::complex64:
      return narrowed<float>(tensor.float_data());
    case DType::float64:
    case DType::complex128:
      return narrowed<double>(tensor.double_data());
    case DType::int64:
      return narrowed<std::int64_t>(tensor.int64_data());
    case DType::uint64:
      return narrowed<std::uint64_t>(tensor.uint64_data());
    case DType::uint32:
      return narrowed<std::uint32_t>(tensor.uint64_data());
    case DType::int32:
      return narrowed<std::int32_t>(tensor.int32_data());
    default:
      break;
  }
  if (element_bytes(dtype) == 2) return narrowed<std::uint16_t>(tensor.int32_data());
  return narrowed<std::uint8_t>(tensor.int32_data());
}

struct ElementType {
  TensorProto::DataType onnx;
  DType dtype;
};

constexpr std::array element_types = {
    ElementType{TensorProto::FLOAT, DType::float32},
    ElementType{TensorProto::UINT8, DType::uint8},
    ElementType{TensorProto::INT8, DType::int8},
    ElementType{TensorProto::UINT16, DType::uint16},
    ElementType{TensorProto::INT16, DType::int16},
    ElementType{TensorProto::INT32, DType::int32},
    ElementType{TensorProto::INT64, DType::int64},
    ElementType{TensorProto::BOOL, DType::boolean},
    ElementType{TensorProto::FLOAT16, DType::float16},
    ElementType{TensorProto::DOUBLE, DType::float64},
    ElementType{TensorProto::UINT32, DType::uint32},
    ElementType{TensorProto::UINT64, DType::uint64},
    ElementType{TensorProto::COMPLEX64, DType::complex64},
    ElementType{TensorProto::COMPLEX128, DType::complex128},
    ElementType{TensorProto::BFLOAT16, DType::bfloat16},
    ElementType{TensorProto::FLOAT8E4M3FN, DType::float8_e4m3fn},
    ElementType{TensorProto::FLOAT8E4M3FNUZ, DType::float8_e4m3fnuz},
    ElementType{TensorProto::FLOAT8E5M2, DType::float8_e5m2},
    ElementType{TensorProto::FLOAT8E5M2FNUZ, DType::float8_e5m2fnuz},
    ElementType{TensorProto::FLOAT8E8M0, DType::float8_e8m0fnu},
    ElementType{TensorProto::FLOAT4E2M1, DType::float4_e2m1},
    ElementType{TensorProto::UINT4, DType::uint4},
    ElementType{TensorProto::INT4, DType::int4},
    ElementType{TensorProto::UINT2, DType::uint2},
    ElementType{TensorProto::INT2, DType::int2},
};

}  // namespace

std::optional<DType> onnx_dtype(std::int32_t type) {
  for (const ElementType& row : element_types)
    if (row.onnx == type) return row.dtype;
  return std::nullopt;
}

std::int32_t onnx_element_type(DType dtype) {
  for (const ElementType& row : element_types)
    if (row.dtype == dtype) return row.onnx;
  return TensorProto::UNDEFINED;
}

TensorSpec tensor_spec(const TensorProto& tensor, const std::string& where) {
  const auto dtype = onnx_dtype(tensor.data_type());
  if (!dtype)
    throw Error(
        where,
        fmt::format(
            "tensor '{}' has element type {}, which is not supported", tensor.name(),
            TensorProto::DataType_Name(static_cast<TensorProto::DataType>(tensor.data_type()))),
        "Wanted: a floating-point, integer, boolean or complex type.");
  TensorSpec spec{*dtype, {tensor.dims().begin(), tensor.dims().end()}, {}, 0};
  std::int64_t bytes = element_bytes(*dtype);
  for (const std::int64_t size : spec.sizes) {
    if (size < 0)
      throw Error(where, fmt::format("tensor '{}' has the size {}", tensor.name(), size));
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes))
      throw Error(where, fmt::format("tensor '{}' has more than 2^63 bytes", tensor.name()));
  }
  spec.strides = contiguous_strides(spec.sizes);
  return spec;
}

std::shared_ptr<const ConstantTensor> constant_tensor(const TensorProto& tensor,
                                                      const std::string& where) {
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = tensor_spec(tensor, where);
  if (tensor.data_location() == TensorProto::EXTERNAL) return constant;
  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    const auto* begin = reinterpret_cast<const std::byte*>(raw.data());
    constant->data.assign(begin, begin + raw.size());
  } else {
    constant->data = typed_data(tensor, constant->spec.dtype);
  }
  const auto found = static_cast<std::int64_t>(constant->data.size());
  if (found != 0 && found != constant->spec.bytes())
    throw Error(where,
                fmt::format("tensor '{}' is {} and has {} bytes of data; wanted {}", tensor.name(),
                            to_string(constant->spec), found, constant->spec.bytes()));
  return constant;
}

}  // namespace symprof::trace

#include "trace/onnx/attributes.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <cstring>

#include "base/error.h"
#include "trace/onnx/tensors.h"

namespace symprof::trace {
namespace {

using onnx::AttributeProto;

template <class T, class Values>
std::shared_ptr<const ConstantTensor> make_constant(DType dtype,
                                                    const std::vector<std::int64_t>& sizes,
                                                    const Values& values) {
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = TensorSpec{dtype, sizes, contiguous_strides(sizes), 0};
  constant->data.resize(static_cast<std::size_t>(values.size()) * sizeof(T));
  std::byte* out = constant->data.data();
  for (const T value : values) {
    std::memcpy(out, &value, sizeof(T));
    out += sizeof(T);
  }
  return constant;
}

Dimension dimension(const onnx::TensorShapeProto::Dimension& source, const std::string& input,
                    std::size_t index, const std::string& path) {
  if (source.value_case() == onnx::TensorShapeProto::Dimension::kDimValue) {
    if (source.dim_value() < 0)
      throw Error(path, fmt::format("input '{}' has the size {}", input, source.dim_value()));
    return {source.dim_value(), ""};
  }
  return {-1,
          source.dim_param().empty() ? fmt::format("{}_dim{}", input, index) : source.dim_param()};
}

}  // namespace

std::optional<ArgumentValue> attribute_value(const AttributeProto& attribute,
                                             const std::string& where) {
  switch (attribute.type()) {
    case AttributeProto::FLOAT:
      return static_cast<double>(attribute.f());
    case AttributeProto::INT:
      return static_cast<std::int64_t>(attribute.i());
    case AttributeProto::STRING:
      return attribute.s();
    case AttributeProto::TENSOR:
      return constant_tensor(attribute.t(), where);
    case AttributeProto::FLOATS:
      return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    case AttributeProto::INTS:
      return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case AttributeProto::STRINGS:
      return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
    default:
      return std::nullopt;
  }
}

std::shared_ptr<const ConstantTensor> constant_attribute(const AttributeProto& attribute,
                                                         const std::string& form,
                                                         const std::string& where) {
  using Integers = std::vector<std::int64_t>;
  if (form == "value") {
    if (attribute.t().data_type() == onnx::TensorProto::STRING) return nullptr;
    return constant_tensor(attribute.t(), where);
  }
  if (form == "value_int")
    return make_constant<std::int64_t>(DType::int64, {}, Integers{attribute.i()});
  if (form == "value_ints")
    return make_constant<std::int64_t>(DType::int64, {attribute.ints_size()}, attribute.ints());
  if (form == "value_float")
    return make_constant<float>(DType::float32, {}, std::vector<float>{attribute.f()});
  if (form == "value_floats")
    return make_constant<float>(DType::float32, {attribute.floats_size()}, attribute.floats());
  if (form == "value_string" || form == "value_strings") return nullptr;
  throw Error(where, fmt::format("a constant given as '{}' is not supported", form),
              "Wanted: value, value_int(s), value_float(s) or value_string(s).");
}

Value input_value(const onnx::ValueInfoProto& input, const std::string& path) {
  Value value{.name = input.name(), .kind = ValueKind::input};
  if (!input.has_type()) return value;
  // A sequence or optional has no known spec before it is given.
  if (input.type().has_sequence_type() || input.type().has_optional_type()) return value;
  if (!input.type().has_tensor_type())
    throw Error(path, fmt::format("input '{}' is not a tensor", input.name()),
                "Maps and sparse tensors are not supported as inputs.");
  const onnx::TypeProto::Tensor& type = input.type().tensor_type();
  const auto dtype = onnx_dtype(type.elem_type());
  if (!dtype)
    throw Error(path,
                fmt::format("input '{}' has element type {}, which is not supported", input.name(),
                            type.elem_type()),
                "Wanted: a floating-point, integer, boolean or complex type.");
  if (!type.has_shape()) return value;
  TensorSpec spec{*dtype, {}, {}, 0};
  for (const auto& source : type.shape().dim()) {
    value.dimensions.push_back(dimension(source, input.name(), value.dimensions.size(), path));
    spec.sizes.push_back(value.dimensions.back().size);
  }
  spec.strides = contiguous_strides(spec.sizes);
  value.spec = std::move(spec);
  return value;
}

}  // namespace symprof::trace

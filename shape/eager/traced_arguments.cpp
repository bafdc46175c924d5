#include "shape/eager/traced_arguments.h"

#include <ATen/ATen.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "meta/fake/fake_tensor.h"

namespace symprof::shape {
namespace {

using c10::IValue;
using c10::TypeKind;

/// Names of C++ types, as caffe2::TypeMeta gives them on Linux.
constexpr std::pair<std::string_view, DType> types[] = {
    {"float", DType::float32},
    {"double", DType::float64},
    {"c10::Half", DType::float16},
    {"c10::BFloat16", DType::bfloat16},
    {"long", DType::int64},
    {"long int", DType::int64},
    {"int", DType::int32},
    {"short", DType::int16},
    {"short int", DType::int16},
    {"signed char", DType::int8},
    {"unsigned char", DType::uint8},
    {"bool", DType::boolean},
    {"c10::Float8_e4m3fn", DType::float8_e4m3fn},
    {"c10::Float8_e5m2", DType::float8_e5m2},
};

std::optional<DType> dtype_of(std::string_view type) {
  for (const auto& [name, dtype] : types)
    if (name == type) return dtype;
  return std::nullopt;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<bool> flag_in(std::string_view text) {
  if (text == "True") return true;
  if (text == "False") return false;
  return std::nullopt;
}

/// The elements of "[1, 1]"; empty if it is no list.
std::optional<std::vector<std::string_view>> elements_of(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> elements;
  while (!text.empty()) {
    const std::size_t comma = text.find(", ");
    elements.push_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 2);
  }
  return elements;
}

template <class Element>
std::optional<IValue> list_of(std::string_view text,
                              std::optional<Element> (*read)(std::string_view)) {
  const auto elements = elements_of(text);
  if (!elements) return std::nullopt;
  c10::List<Element> list;
  for (const std::string_view element : *elements) {
    const std::optional<Element> value = read(element);
    if (!value) return std::nullopt;
    list.push_back(*value);
  }
  return IValue(std::move(list));
}

/// A Python number among tensors reaches operators as a tensor of one of Python's types.
bool is_wrapped_number(const OperatorArgument& given) {
  return given.sizes.empty() && (given.type == "double" || given.type.starts_with("long"));
}

std::optional<IValue> tensor_of(const OperatorArgument& given) {
  const std::optional<DType> dtype = dtype_of(given.type);
  if (!dtype || given.strides.size() != given.sizes.size()) return std::nullopt;
  if (is_wrapped_number(given)) {
    at::Tensor number =
        *dtype == DType::float64 ? c10::scalar_to_tensor(1.5) : c10::scalar_to_tensor(1);
    number.unsafeGetTensorImpl()->set_wrapped_number(true);
    return IValue(std::move(number));
  }
  TensorSpec spec;
  spec.dtype = *dtype;
  spec.sizes = given.sizes;
  spec.strides = given.strides;
  return IValue(meta::make_fake(spec));
}

std::optional<IValue> scalar_of(std::string_view text) {
  if (const auto flag = flag_in(text)) return IValue(*flag);
  if (const auto integer = number_in<std::int64_t>(text)) return IValue(*integer);
  if (const auto real = number_in<double>(text)) return IValue(*real);
  return std::nullopt;
}

template <class Value>
std::optional<IValue> as_value(const std::optional<Value>& value) {
  return value ? std::optional(IValue(*value)) : std::nullopt;
}

std::optional<IValue> list_for(TypeKind element, std::string_view text) {
  switch (element) {
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return list_of<std::int64_t>(text, &number_in<std::int64_t>);
    case TypeKind::FloatType:
      return list_of<double>(text, &number_in<double>);
    case TypeKind::BoolType:
      return list_of<bool>(text, &flag_in);
    default:  // Traces do not tell the dtypes of the tensors in a list.
      return std::nullopt;
  }
}

/// The value for an argument of this type that is there; layouts, formats and dtypes are integers.
std::optional<IValue> value_for(const c10::Type& type, const OperatorArgument& given) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return tensor_of(given);
    case TypeKind::BoolType:
      return as_value(flag_in(given.value));
    case TypeKind::FloatType:
      return as_value(number_in<double>(given.value));
    case TypeKind::NumberType:
      return scalar_of(given.value);
    case TypeKind::ListType:
      return list_for(type.castRaw<c10::ListType>()->getElementType()->kind(), given.value);
    default:
      return as_value(number_in<std::int64_t>(given.value));
  }
}

std::optional<IValue> argument_of(const c10::Argument& argument, const OperatorArgument& given) {
  const bool is_absent = given.value.empty() && given.sizes.empty() && !dtype_of(given.type);
  const c10::Type& type = *argument.type();
  if (type.kind() != TypeKind::OptionalType)
    return is_absent ? std::nullopt : value_for(type, given);
  if (is_absent) return given.type.empty() ? std::optional(IValue()) : std::nullopt;
  return value_for(*type.castRaw<c10::OptionalType>()->getElementType(), given);
}

}  // namespace

std::optional<std::vector<IValue>> traced_arguments(const OperatorCall& call,
                                                    const c10::FunctionSchema& schema) {
  if (schema.arguments().size() != call.arguments.size()) return std::nullopt;
  std::vector<IValue> values;
  values.reserve(call.arguments.size());
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    auto value = argument_of(schema.arguments()[i], call.arguments[i]);
    if (!value) return std::nullopt;
    values.push_back(*std::move(value));
  }
  return values;
}

}  // namespace symprof::shape

#include "shape/interpreter/arguments.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>
#include <fmt/format.h>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "shape/lowering/real_tensor.h"
#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

using c10::IValue;
using c10::TypeKind;

// The type inside Optional[...], or the type itself.
const c10::Type& inner_type(const c10::Type& type) {
  if (type.kind() == TypeKind::OptionalType)
    return *type.castRaw<c10::OptionalType>()->getElementType();
  return type;
}

// A Python number where the schema wants a tensor: as torch/csrc/jit/python/pybind_utils.cpp does.
at::Tensor wrapped_number(const at::Scalar& number) {
  at::Tensor tensor = c10::scalar_to_tensor(number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

IValue number_as(const at::Scalar& number, const c10::Argument& argument) {
  const c10::Type& type = inner_type(*argument.type());
  switch (type.kind()) {
    case TypeKind::TensorType:
      return wrapped_number(number);
    case TypeKind::FloatType:
      return number.toDouble();
    case TypeKind::ListType: {
      const auto length = static_cast<std::size_t>(argument.N().value_or(1));
      if (type.castRaw<c10::ListType>()->getElementType()->kind() == TypeKind::FloatType)
        return std::vector<double>(length, number.toDouble());
      return std::vector<std::int64_t>(length, number.toLong());
    }
    default:
      if (number.isComplex()) return number.toComplexDouble();
      if (number.isBoolean()) return number.toBool();
      if (number.isFloatingPoint()) return number.toDouble();
      return number.toLong();
  }
}

c10::MemoryFormat memory_format(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::contiguous:
      return c10::MemoryFormat::Contiguous;
    case MemoryFormat::preserve:
      return c10::MemoryFormat::Preserve;
    case MemoryFormat::channels_last:
      return c10::MemoryFormat::ChannelsLast;
    case MemoryFormat::channels_last_3d:
      return c10::MemoryFormat::ChannelsLast3d;
  }
  return c10::MemoryFormat::Preserve;
}

template <class T>
c10::List<T> to_list(const std::vector<T>& values) {
  c10::List<T> list;
  list.reserve(values.size());
  for (const T& value : values) list.push_back(value);
  return list;
}

class Converter {
 public:
  Converter(const std::vector<IValue>& values, c10::Device device, const c10::Argument& argument)
      : values_(values), device_(device), argument_(argument) {}

  IValue operator()(const NoArgument&) const { return {}; }
  IValue operator()(const ValueRef& ref) const {
    return fit(values_[static_cast<std::size_t>(ref.id)]);
  }
  IValue operator()(bool value) const { return number_as(at::Scalar(value), argument_); }
  IValue operator()(std::int64_t value) const { return number_as(at::Scalar(value), argument_); }
  IValue operator()(double value) const { return number_as(at::Scalar(value), argument_); }
  IValue operator()(const std::complex<double>& value) const {
    return number_as(at::Scalar(c10::complex<double>(value)), argument_);
  }
  IValue operator()(const std::string& value) const { return value; }
  IValue operator()(DType value) const {
    return static_cast<std::int64_t>(meta::scalar_type(value));
  }
  IValue operator()(MemoryFormat value) const {
    return static_cast<std::int64_t>(memory_format(value));
  }
  IValue operator()(Layout) const { return static_cast<std::int64_t>(c10::Layout::Strided); }
  IValue operator()(const DeviceName&) const { return device_; }
  IValue operator()(const std::vector<double>& value) const { return to_list(value); }
  IValue operator()(const std::vector<std::string>& value) const { return to_list(value); }
  IValue operator()(const std::vector<bool>& value) const {
    c10::List<bool> list;
    for (bool element : value) list.push_back(element);
    return list;
  }
  IValue operator()(const std::vector<std::int64_t>& value) const {
    switch (element_kind()) {
      case TypeKind::FloatType:
        return to_list(std::vector<double>(value.begin(), value.end()));
      case TypeKind::BoolType:
        return (*this)(std::vector<bool>(value.begin(), value.end()));
      default:
        return to_list(value);
    }
  }
  IValue operator()(const std::vector<ListElement>& value) const {
    switch (element_kind()) {
      case TypeKind::TensorType:
        return tensor_list(value);
      case TypeKind::OptionalType:
        return optional_tensor_list(value);
      case TypeKind::FloatType:
        return number_list<double>(value);
      case TypeKind::BoolType:
        return number_list<bool>(value);
      default:
        return number_list<std::int64_t>(value);
    }
  }
  IValue operator()(const std::shared_ptr<const ConstantTensor>& value) const {
    return lowering::real_tensor(*value);
  }
  IValue operator()(const std::shared_ptr<const Graph>&) const {
    throw Error("argument " + argument_.name(), "a graph where the operator takes none");
  }
  IValue operator()(const CustomObject& object) const {
    throw Error("argument " + argument_.name(),
                fmt::format("an object of the class {}, whose code the file does not have",
                            object.class_name),
                "Export the model with tensors in its place.");
  }
  IValue operator()(const std::vector<Argument>& elements) const {
    const c10::Type& type = inner_type(*argument_.type());
    if (type.kind() == TypeKind::DictType) return dictionary(elements, type);
    if (type.kind() != TypeKind::ListType)
      throw Error("argument " + argument_.name(),
                  "a list of lists, or a dictionary, where the operator takes " + type.str());
    const c10::TypePtr element_type = type.castRaw<c10::ListType>()->getElementType();
    c10::impl::GenericList list(element_type);
    for (const Argument& element : elements) list.push_back(convert(element, element_type));
    return list;
  }

 private:
  TypeKind element_kind() const {
    const c10::Type& type = inner_type(*argument_.type());
    if (type.kind() != TypeKind::ListType) return type.kind();
    return type.castRaw<c10::ListType>()->getElementType()->kind();
  }

  IValue convert(const Argument& element, const c10::TypePtr& type) const {
    const c10::Argument wanted(argument_.name(), type);
    return std::visit(Converter(values_, device_, wanted), element.value);
  }
  IValue dictionary(const std::vector<Argument>& elements, const c10::Type& type) const {
    const auto* wanted = type.castRaw<c10::DictType>();
    c10::impl::GenericDict dictionary(wanted->getKeyType(), wanted->getValueType());
    for (const Argument& element : elements)
      dictionary.insert(element.name, convert(element, wanted->getValueType()));
    return dictionary;
  }

  const IValue& value_of(const ListElement& element) const {
    return values_[static_cast<std::size_t>(std::get<ValueRef>(element).id)];
  }

  // Converts a symbolic scalar to the schema's type; other values are unchanged.
  IValue fit(const IValue& value) const {
    return value.isScalar() ? number_as(value.toScalar(), argument_) : value;
  }

  IValue tensor_list(const std::vector<ListElement>& elements) const {
    c10::List<at::Tensor> list;
    for (const ListElement& element : elements) list.push_back(value_of(element).toTensor());
    return list;
  }
  IValue optional_tensor_list(const std::vector<ListElement>& elements) const {
    c10::List<std::optional<at::Tensor>> list;
    for (const ListElement& element : elements)
      list.push_back(std::holds_alternative<NoArgument>(element)
                         ? std::nullopt
                         : std::optional<at::Tensor>(value_of(element).toTensor()));
    return list;
  }
  // May contain symbolic numbers; an integer is accepted for a float.
  template <class Number>
  IValue number_list(const std::vector<ListElement>& elements) const {
    c10::List<Number> list;
    for (const ListElement& element : elements) {
      const at::Scalar number =
          std::visit([&](const auto& held) { return number_of(held); }, element);
      list.push_back(number.to<Number>());
    }
    return list;
  }
  at::Scalar number_of(const ValueRef& ref) const {
    return values_[static_cast<std::size_t>(ref.id)].toScalar();
  }
  at::Scalar number_of(const NoArgument&) const {
    throw Error("argument " + argument_.name(), "None in a list of numbers");
  }
  template <class Number>
  at::Scalar number_of(Number number) const {
    return number;
  }

  const std::vector<IValue>& values_;
  c10::Device device_;
  const c10::Argument& argument_;
};

}  // namespace

std::vector<IValue> schema_arguments(const Node& node, const c10::FunctionSchema& schema,
                                     const std::vector<IValue>& values, c10::Device device) {
  std::vector<IValue> stack;
  stack.reserve(schema.arguments().size() + 1);
  std::size_t used = 0;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& wanted = schema.arguments()[i];
    if (const Argument* given = trace::find_argument(node, wanted.name(), i)) {
      ++used;
      stack.push_back(std::visit(Converter(values, device, wanted), given->value));
    } else if (wanted.default_value().has_value()) {
      stack.push_back(*wanted.default_value());
    } else {
      throw Error("argument " + wanted.name(),
                  "missing; the operator's schema is " + toString(schema));
    }
  }
  if (used != node.arguments.size())
    throw Error(
        "", fmt::format("{} arguments given, {} of them known to the operator, whose schema is {}",
                        node.arguments.size(), used, toString(schema)));
  return stack;
}

}  // namespace symprof::shape

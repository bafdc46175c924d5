#include "trace/torchscript/containers.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/ir/constants.h>

#include <unordered_map>

namespace symprof::trace::torchscript {
namespace {

using c10::IValue;
using Values = std::vector<IValue>;

bool is_tensor(const c10::Type& type) { return type.kind() == c10::TypeKind::TensorType; }

// List elements must be plain TensorType: a static type with a dtype is not allowed in a list, and
// IValue::isOptionalTensorList compares with the singleton type, which a parsed type is not.
c10::TypePtr element_type(const c10::Type& list) {
  c10::TypePtr type = list.castRaw<c10::ListType>()->getElementType();
  if (is_tensor(*type)) return c10::TensorType::get();
  const auto* optional = type->castRaw<c10::OptionalType>();
  if (optional != nullptr && is_tensor(*optional->getElementType()))
    return c10::getTypePtr<std::optional<at::Tensor>>();
  return type;
}

Values make_list(const torch::jit::Node& node, Values inputs) {
  c10::impl::GenericList list(element_type(*node.output()->type()));
  list.reserve(inputs.size());
  for (IValue& input : inputs) list.push_back(std::move(input));
  return {list};
}

Values make_tuple(const torch::jit::Node& node, Values inputs) {
  const auto type = node.output()->type()->cast<c10::TupleType>();
  if (type && type->name()) return {c10::ivalue::Tuple::createNamed(std::move(inputs), type)};
  return {c10::ivalue::Tuple::create(std::move(inputs))};
}

Values make_dictionary(const torch::jit::Node& node, Values inputs) {
  const auto type = node.output()->type()->expect<c10::DictType>();
  c10::impl::GenericDict dictionary(type->getKeyType(), type->getValueType());
  for (std::size_t i = 0; i + 1 < inputs.size(); i += 2)
    dictionary.insert_or_assign(inputs[i], inputs[i + 1]);
  return {dictionary};
}

Values unpack_list(const torch::jit::Node& node, Values inputs) {
  const c10::List<IValue> list = inputs.at(0).toList();
  TORCH_CHECK(list.size() == node.outputs().size(), "Expected ", node.outputs().size(),
              " elements in a list but found ", list.size());
  return list.vec();
}

Values unpack_tuple(const torch::jit::Node& node, Values inputs) {
  const auto& elements = inputs.at(0).toTupleRef().elements();
  TORCH_CHECK(elements.size() == node.outputs().size(), "Expected ", node.outputs().size(),
              " elements in a tuple but found ", elements.size());
  return Values(elements.begin(), elements.end());
}

Values slice_tuple(const torch::jit::Node& node, Values inputs) {
  const auto& elements = inputs.at(0).toTupleRef().elements();
  const std::int64_t begin = node.i(c10::attr::beg), end = node.i(c10::attr::end);
  TORCH_CHECK(begin >= 0 && begin <= end && static_cast<std::size_t>(end) <= elements.size(),
              "a tuple of ", elements.size(), " has no slice ", begin, ":", end);
  Values slice;
  for (std::int64_t i = begin; i < end; ++i) slice.push_back(elements[static_cast<std::size_t>(i)]);
  return {c10::ivalue::Tuple::create(std::move(slice))};
}

Values is_instance(const torch::jit::Node& node, Values inputs) {
  const c10::TypePtr type = inputs.at(0).type();
  for (const c10::TypePtr& candidate : node.tys(c10::attr::types))
    if (type->isSubtypeOf(*candidate)) return {true};
  return {false};
}

Values create_object(const torch::jit::Node& node, Values) {
  const auto type = node.output()->type()->expect<c10::ClassType>();
  return {c10::ivalue::Object::create(c10::StrongTypePtr(type->compilation_unit(), type),
                                      type->numAttributes())};
}

Values get_attribute(const torch::jit::Node& node, Values inputs) {
  return {inputs.at(0).toObjectRef().getAttr(node.s(c10::attr::name))};
}

Values set_attribute(const torch::jit::Node& node, Values inputs) {
  inputs.at(0).toObjectRef().setAttr(node.s(c10::attr::name), inputs.at(1));
  return {};
}

Values constant(const torch::jit::Node& node, Values) {
  const auto value = torch::jit::toIValue(node.output());
  // A function, identified by its type at the call.
  if (node.output()->type()->kind() == c10::TypeKind::FunctionType) return {IValue()};
  TORCH_CHECK(value.has_value(), "a constant of type ", node.output()->type()->repr_str(),
              " has no value");
  return {*value};
}

Values uninitialized(const torch::jit::Node&, Values) { return {IValue()}; }
Values same(const torch::jit::Node&, Values inputs) { return inputs; }

}  // namespace

ContainerFunction find_container_function(c10::Symbol kind) {
  static const std::unordered_map<c10::Symbol, ContainerFunction> functions = {
      {c10::prim::Constant, &constant},
      {c10::prim::ListConstruct, &make_list},
      {c10::prim::TupleConstruct, &make_tuple},
      {c10::prim::DictConstruct, &make_dictionary},
      {c10::prim::ListUnpack, &unpack_list},
      {c10::prim::TupleUnpack, &unpack_tuple},
      {c10::prim::TupleSlice, &slice_tuple},
      {c10::prim::isinstance, &is_instance},
      {c10::prim::CreateObject, &create_object},
      {c10::prim::GetAttr, &get_attribute},
      {c10::prim::SetAttr, &set_attribute},
      {c10::prim::Uninitialized, &uninitialized},
      {c10::prim::unchecked_cast, &same},
      {c10::aten::wait, &same},  // A fork already ran at its place.
  };
  const auto found = functions.find(kind);
  return found == functions.end() ? nullptr : found->second;
}

}  // namespace symprof::trace::torchscript

#include "trace/torchscript/graph_recorder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <complex>
#include <cstring>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"
#include "trace/graph/region_markers.h"

namespace symprof::trace::torchscript {
namespace {

constexpr std::size_t most_constant_bytes = 65536;

std::shared_ptr<const ConstantTensor> data_of(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.detach().contiguous();
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = meta::spec_of(dense);
  constant->spec.storage_offset = 0;
  constant->data.resize(dense.nbytes());
  if (dense.nbytes() > 0)
    std::memcpy(constant->data.data(), dense.const_data_ptr(), dense.nbytes());
  return constant;
}

template <class T>
std::vector<T> to_vector(const c10::IValue& list) {
  std::vector<T> result;
  for (const c10::IValue& element : list.toList()) result.push_back(element.to<T>());
  return result;
}

// aten::relu_ → "relu_".
std::string base_name(const std::string& op) { return op.substr(op.rfind(':') + 1); }

bool is_dtype(const c10::Argument& argument) {
  const c10::Type* type = argument.real_type().get();
  if (type->kind() == c10::TypeKind::OptionalType)
    type = type->castRaw<c10::OptionalType>()->getElementType().get();
  return type->kind() == c10::TypeKind::ScalarTypeType;
}

}  // namespace

ValueId GraphRecorder::add_leaf(const at::Tensor& tensor, Value value) {
  const ValueId id = graph_.add_value(std::move(value));
  bind(tensor, id);
  return id;
}

void GraphRecorder::note_releases() {
  std::erase_if(results_, [&](const Result& result) {
    if (!result.tensor.expired()) return false;
    if (notes_releases_) graph_.nodes.back().releases.push_back(result.id);
    const auto known = values_.find(result.tensor._unsafe_get_target());
    if (known != values_.end() && known->second == result.id) values_.erase(known);
    return true;
  });
}

void GraphRecorder::may_stay(const c10::IValue& result, ScopeId scope) {
  if (result.isTensorList() || result.isTuple()) {
    const auto parts =
        result.isTuple() ? result.toTupleRef().elements().vec()
                         : std::vector<c10::IValue>(result.toList().begin(), result.toList().end());
    for (const c10::IValue& part : parts) may_stay(part, scope);
    return;
  }
  if (!result.isTensor() || !result.toTensor().defined()) return;
  const auto known = values_.find(result.toTensor().unsafeGetTensorImpl());
  if (known != values_.end()) graph_.value(known->second).may_stay_in = scope;
}

void GraphRecorder::release_rest() {
  note_releases();
  if (!notes_releases_) return;
  for (const Result& result : results_) graph_.nodes.back().releases.push_back(result.id);
}

void GraphRecorder::bind(const at::Tensor& tensor, ValueId id) {
  values_[tensor.unsafeGetTensorImpl()] = id;
  leaves_.push_back(tensor);
}

ValueId GraphRecorder::value_of(const at::Tensor& tensor) {
  const auto known = values_.find(tensor.unsafeGetTensorImpl());
  if (known != values_.end()) return known->second;
  Value value{.name = unique_name("constant"), .kind = ValueKind::constant};
  value.spec = meta::spec_of(tensor);
  if (!meta::is_fake(tensor) && tensor.nbytes() < most_constant_bytes) {
    value.constant = data_of(tensor);
    value.spec = value.constant->spec;
  }
  return add_leaf(tensor, std::move(value));
}

void GraphRecorder::add_call(const c10::FunctionSchema& schema,
                             std::span<const c10::IValue> arguments,
                             std::span<const c10::IValue> results, ScopeId scope) {
  note_releases();
  Node node{.name = unique_name(base_name(schema.name())), .op = schema.name(), .scope = scope};
  node.overload = schema.overload_name().empty() ? "default" : schema.overload_name();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::Argument& wanted = schema.arguments()[i];
    node.arguments.push_back({wanted.name(), argument(arguments[i], wanted)});
  }
  if (results.size() == 1 && results[0].isTensorList()) {
    node.outputs_are_list = true;
    for (const at::Tensor& tensor : results[0].toTensorList()) add_output(node, tensor);
  } else {
    for (const c10::IValue& result : results) add_output(node, result);
  }
  graph_.nodes.push_back(std::move(node));
}

bool GraphRecorder::is_leaf(const at::Tensor& tensor) const {
  const auto known = values_.find(tensor.unsafeGetTensorImpl());
  return known != values_.end() && graph_.value(known->second).kind != ValueKind::result;
}

// An in-place operator returns its argument: from then on the tensor is the node's result, except
// values without a producer, which keep their identity.
void GraphRecorder::add_output(Node& node, const c10::IValue& result) {
  const bool is_tensor = result.isTensor() && result.toTensor().defined();
  if (!is_tensor || is_leaf(result.toTensor())) {
    node.outputs.push_back(no_value);
    return;
  }
  const std::size_t index = node.outputs.size();
  const std::string name = index == 0 ? node.name : fmt::format("{}.{}", node.name, index);
  const ValueId id = graph_.add_value(
      {.name = name, .recorded_dtype = meta::dtype_of(result.toTensor().scalar_type())});
  values_[result.toTensor().unsafeGetTensorImpl()] = id;
  results_.push_back({.tensor = WeakTensor(result.toTensor().getIntrusivePtr()), .id = id});
  node.outputs.push_back(id);
}

void GraphRecorder::set_grad_mode(bool from, bool to, ScopeId scope) {
  if (from == to) return;
  note_releases();
  if (!grad_modes_.empty() && grad_modes_.back() == to) {
    grad_modes_.pop_back();
    graph_.nodes.push_back({.name = unique_name("region_end"),
                            .op = std::string(region_end),
                            .overload = "",
                            .scope = scope});
    return;
  }
  grad_modes_.push_back(from);
  graph_.nodes.push_back({.name = unique_name("grad_mode"),
                          .op = std::string(region_grad_mode),
                          .overload = "",
                          .arguments = {{"enabled", to}},
                          .scope = scope});
}

ArgumentValue GraphRecorder::number_of(const at::Scalar& number) {
  if (number.isComplex()) return std::complex<double>(number.toComplexDouble());
  return number.isFloatingPoint() ? ArgumentValue(number.toDouble())
                                  : ArgumentValue(number.toLong());
}

ArgumentValue GraphRecorder::argument(const c10::IValue& value, const c10::Argument& schema) {
  if (value.isNone()) return NoArgument{};
  if (value.isTensor()) return tensor_argument(value.toTensor());
  if (value.isBool()) return value.toBool();
  if (value.isInt() && is_dtype(schema))
    return meta::dtype_of(static_cast<at::ScalarType>(value.toInt()));
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  if (value.isComplexDouble()) return std::complex<double>(value.toComplexDouble());
  if (value.isString()) return value.toStringRef();
  if (value.isDevice()) return DeviceName{value.toDevice().str()};
  if (value.isList()) return list_argument(value);
  throw Error("argument " + schema.name(),
              fmt::format("a graph cannot hold a value of type {}", value.type()->str()));
}

// A wrapped number stays a number: ATen treats a CPU scalar among CUDA tensors as one.
ArgumentValue GraphRecorder::tensor_argument(const at::Tensor& tensor) {
  if (!tensor.defined()) return NoArgument{};
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return number_of(tensor.item());
  if (!knows(tensor) && !meta::is_fake(tensor) && tensor.dim() == 0) return data_of(tensor);
  return ValueRef{value_of(tensor)};
}

ArgumentValue GraphRecorder::list_argument(const c10::IValue& value) {
  if (value.isIntList()) return to_vector<std::int64_t>(value);
  if (value.isDoubleList()) return to_vector<double>(value);
  if (value.isBoolList()) return to_vector<bool>(value);
  std::vector<ListElement> elements;
  std::vector<std::string> words;
  for (const c10::IValue& element : value.toList()) {
    if (element.isTensor() && element.toTensor().defined())
      elements.emplace_back(ValueRef{value_of(element.toTensor())});
    else if (element.isNone() || element.isTensor())
      elements.emplace_back(NoArgument{});
    else if (element.isInt())
      elements.emplace_back(element.toInt());
    else if (element.isString())
      words.push_back(element.toStringRef());
    else
      throw Error("argument list", "a graph cannot hold an element of type " + element.tagKind());
  }
  if (!words.empty()) return words;
  return elements;
}

std::string GraphRecorder::unique_name(const std::string& op) {
  const int count = names_[op]++;
  return count == 0 ? op : fmt::format("{}_{}", op, count);
}

}  // namespace symprof::trace::torchscript

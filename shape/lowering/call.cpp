#include <ATen/ATen.h>
#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "base/values_setting.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/real_tensor.h"
#include "trace/graph/uses.h"

namespace symprof::lowering {
namespace {

/// The real tensor of an operand that determines a shape.
at::Tensor real_operand(const OnnxCall& call, std::size_t index) {
  if (const at::Tensor values = values_of(call.input(index)); values.defined()) return values;
  const Value* value = call.value(index);
  if (value != nullptr && value->constant && !value->constant->data.empty())
    return real_tensor(*value->constant);
  call.fail(fmt::format("data-dependent shape: input {} ('{}') decides it, and its values are not "
                        "known before the model runs",
                        index, value == nullptr ? "" : value->name),
            "Give the values of the input that it follows from with " + values_setting() +
                ", or export the model so that this shape follows from the shapes of its inputs.");
}

template <class T>
std::vector<T> numbers(const at::Tensor& tensor, at::ScalarType type) {
  const at::Tensor flat = tensor.to(tensor.device(), type).contiguous();
  return {flat.const_data_ptr<T>(), flat.const_data_ptr<T>() + flat.numel()};
}

}  // namespace

bool OnnxCall::has(std::size_t index) const {
  return index < inputs.size() && inputs[index].defined();
}

const at::Tensor& OnnxCall::input(std::size_t index) const {
  if (!has(index)) fail(fmt::format("input {} is left out", index), "The operator needs it.");
  return inputs[index];
}

at::Tensor OnnxCall::optional_input(std::size_t index) const {
  return has(index) ? inputs[index] : at::Tensor();
}

const Value* OnnxCall::value(std::size_t index) const {
  const ValueId id = trace::value_of(trace::find_argument(node, "", index));
  return id == no_value ? nullptr : &graph.value(id);
}

Integers OnnxCall::integers_of(std::size_t index) const {
  return numbers<std::int64_t>(real_operand(*this, index), at::kLong);
}

std::vector<double> OnnxCall::reals_of(std::size_t index) const {
  return numbers<double>(real_operand(*this, index), at::kDouble);
}

std::int64_t OnnxCall::integer_of(std::size_t index) const {
  const Integers all = integers_of(index);
  if (all.size() != 1) fail(fmt::format("input {} has {} elements; wanted one", index, all.size()));
  return all.front();
}

double OnnxCall::real_of(std::size_t index) const {
  const std::vector<double> all = reals_of(index);
  if (all.size() != 1) fail(fmt::format("input {} has {} elements; wanted one", index, all.size()));
  return all.front();
}

std::optional<at::Scalar> OnnxCall::known_scalar(std::size_t index) const {
  if (!has(index) || inputs[index].numel() != 1) return std::nullopt;
  const Value* source = value(index);
  const bool is_constant = source != nullptr && source->kind != ValueKind::input &&
                           source->constant && !source->constant->data.empty();
  if (!is_real(inputs[index]) && !is_constant) return std::nullopt;
  // A real tensor that requires a gradient is an operand, not a number.
  if (inputs[index].requires_grad()) return std::nullopt;
  return real_operand(*this, index).item();
}

template <class T>
const T* OnnxCall::attribute_value(std::string_view attribute, std::string_view wanted) const {
  const Argument* found = trace::find_argument(node, attribute);
  if (found == nullptr) return nullptr;
  const T* value = trace::argument_as<T>(found);
  if (value == nullptr) fail(fmt::format("attribute '{}' is not {}", attribute, wanted));
  return value;
}

std::int64_t OnnxCall::integer(std::string_view attribute, std::int64_t otherwise) const {
  const auto* found = attribute_value<std::int64_t>(attribute, "an integer");
  return found == nullptr ? otherwise : *found;
}

double OnnxCall::real(std::string_view attribute, double otherwise) const {
  const auto* found = attribute_value<double>(attribute, "a number");
  return found == nullptr ? otherwise : *found;
}

std::string OnnxCall::text(std::string_view attribute, std::string_view otherwise) const {
  const auto* found = attribute_value<std::string>(attribute, "a text");
  return found == nullptr ? std::string(otherwise) : *found;
}

std::optional<Integers> OnnxCall::integers(std::string_view attribute) const {
  const auto* found = attribute_value<Integers>(attribute, "a list of integers");
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<std::vector<double>> OnnxCall::reals(std::string_view attribute) const {
  const auto* found = attribute_value<std::vector<double>>(attribute, "a list of numbers");
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<std::vector<std::string>> OnnxCall::texts(std::string_view attribute) const {
  const auto* found = attribute_value<std::vector<std::string>>(attribute, "a list of texts");
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::shared_ptr<const ConstantTensor> OnnxCall::tensor(std::string_view attribute) const {
  const auto* found = attribute_value<std::shared_ptr<const ConstantTensor>>(attribute, "a tensor");
  return found == nullptr ? nullptr : *found;
}

std::int64_t OnnxCall::opset() const {
  for (const auto& [domain, version] : graph.opsets)
    if (domain == "ai.onnx") return version;
  return std::numeric_limits<std::int64_t>::max();
}

bool OnnxCall::wants_output(std::size_t index) const {
  return index < node.outputs.size() && node.outputs[index] != no_value;
}

void OnnxCall::fail(std::string problem, std::string advice) const {
  throw Error("", std::move(problem), std::move(advice));
}

}  // namespace symprof::lowering

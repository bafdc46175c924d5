#include "shape/interpreter/nested_body.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/values_setting.h"
#include "meta/fake/fake_tensor.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/real_tensor.h"

namespace symprof::shape {
namespace {

using c10::IValue;

class Unobserved : public NodeObserver {
 public:
  void begin_node(std::size_t) override {}
  void end_node(std::size_t) override {}
};

/// A constant of a body, placed as in the outer graph: integers and scalars are real, others are on
/// the device.
IValue constant_of(const Value& value, c10::Device device) {
  if (value.scalar) return std::visit([](auto number) { return IValue(number); }, *value.scalar);
  const bool has_data = value.constant != nullptr;
  const bool small = has_data && (!is_floating_point(value.constant->spec.dtype) ||
                                  value.constant->spec.sizes.empty());
  if (has_data && (small || device.is_cpu())) return lowering::real_tensor(*value.constant);
  if (!value.spec || device.is_cpu())
    throw Error("", fmt::format("'{}' of a nested graph has no data", value.name));
  return meta::make_fake(*value.spec);
}

}  // namespace

std::vector<IValue> run_body(const Graph& body, std::vector<IValue> inputs, c10::Device device,
                             const Recompute& recompute, Lifetimes lifetimes) {
  if (inputs.size() != body.inputs.size())
    throw Error("", fmt::format("{} values for the {} inputs of a nested graph", inputs.size(),
                                body.inputs.size()));
  Interpreter interpreter(body, device, recompute, lifetimes);
  interpreter.compute_on_host(trace::host_values(body, trace::GraphPlace::nested));
  for (std::size_t id = 0; id < body.values.size(); ++id)
    if (body.values[id].kind != ValueKind::result && body.values[id].kind != ValueKind::input)
      interpreter.set(static_cast<ValueId>(id), constant_of(body.values[id], device));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    interpreter.set(body.inputs[i], std::move(inputs[i]));
  Unobserved observer;
  interpreter.run(observer);
  std::vector<IValue> outputs;
  for (const ValueId id : body.outputs) outputs.push_back(interpreter.get(id));
  return outputs;
}

bool is_known(const IValue& value) {
  if (!value.isTensor()) return value.isScalar();
  return value.toTensor().numel() == 1 && lowering::values_of(value.toTensor()).defined();
}

std::int64_t known_number(const IValue& value, const char* what) {
  if (!is_known(value))
    throw Error(
        "", fmt::format("data-dependent control flow: {} is not known before the model runs", what),
        "Give the values of the input that it follows from with " + values_setting() +
            ", or export the model so that it follows from the shapes of its inputs.");
  if (value.isScalar()) return value.toScalar().to<std::int64_t>();
  return lowering::values_of(value.toTensor()).to(at::kLong).item<std::int64_t>();
}

at::Tensor on_host(std::int64_t number, at::ScalarType type) {
  return lowering::host_integers({number}).reshape({}).to(at::kCPU, type);
}

at::Tensor joined(const std::vector<at::Tensor>& parts, std::int64_t axis) {
  if (!parts.empty()) return at::stack(parts, axis);
  throw Error("", "a loop that never runs: the shape of what it collects is not known",
              "Give inputs for which it runs.");
}

}  // namespace symprof::shape

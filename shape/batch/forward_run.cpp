#include "shape/batch/forward_run.h"

#include <ATen/ATen.h>

#include <cmath>

#include "meta/fake/fake_tensor.h"
#include "meta/fake/silent_observer.h"
#include "shape/interpreter/leaves.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/real_tensor.h"
#include "trace/passes/host_values.h"

namespace symprof::shape {
namespace {

/// The most numbers that a tensor of sizes has.
constexpr std::int64_t most_numbers = 64;

std::shared_ptr<meta::Observer> observer_of_sizes(const StepOptions& options) {
  if (options.unbacked == UnbackedSizes::max) return std::make_shared<meta::UpperBounds>();
  return std::make_shared<meta::SilentObserver>();
}

/// ONNX also computes sizes in floating point: Range of a number that was cast.
bool holds_whole_numbers(const at::Tensor& tensor) {
  if (at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false)) return true;
  constexpr double largest = 1e9;
  if (!at::isFloatingType(tensor.scalar_type()) || tensor.numel() != 1) return false;
  const double number = tensor.item().toDouble();
  return std::abs(number) < largest && number == std::floor(number);
}

}  // namespace

ForwardRun::ForwardRun(const Graph& graph, const StepOptions& options)
    : mode_({.device = options.device}, observer_of_sizes(options)),
      gradients_(false),
      interpreter_(graph, c10::Device(c10::kCUDA, 0)) {
  make_leaves(graph);
}

void ForwardRun::make_leaves(const Graph& graph) {
  trace::HostValues host = trace::host_values(graph, trace::GraphPlace::outermost);
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    const auto set = [&](c10::IValue given) {
      interpreter_.set(static_cast<ValueId>(id), std::move(given));
    };
    if (value.kind == ValueKind::result) continue;
    if (value.kind == ValueKind::constant && value.constant != nullptr &&
        (host.values[id] || stays_real(graph, value)))
      set(lowering::real_tensor(*value.constant));
    else if (value.kind == ValueKind::input && value.scalar)
      set(std::visit([](auto number) { return c10::IValue(number); }, *value.scalar));
    else
      set(meta::make_fake(spec_of_leaf(graph, value)));
  }
  interpreter_.compute_on_host(std::move(host));
}

const at::Tensor* ForwardRun::tensor(ValueId id) const {
  if (id == no_value || !interpreter_.get(id).isTensor()) return nullptr;
  const at::Tensor& tensor = interpreter_.get(id).toTensor();
  return tensor.defined() ? &tensor : nullptr;
}

std::optional<std::vector<std::int64_t>> ForwardRun::numbers(ValueId id) const {
  if (id == no_value) return std::nullopt;
  if (interpreter_.get(id).isInt()) return {{interpreter_.get(id).toInt()}};
  const at::Tensor* held = tensor(id);
  if (held == nullptr || !lowering::is_real(*held) || held->numel() > most_numbers ||
      !holds_whole_numbers(*held))
    return std::nullopt;
  const at::Tensor integers = held->to(at::kLong).contiguous();
  const std::int64_t* first = integers.const_data_ptr<std::int64_t>();
  return std::vector<std::int64_t>(first, first + integers.numel());
}

}  // namespace symprof::shape

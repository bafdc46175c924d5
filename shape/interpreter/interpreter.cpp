#include "shape/interpreter/interpreter.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>

#include <stdexcept>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/error_text.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/host_inputs.h"
#include "meta/fake/mixed_dtypes.h"
#include "meta/fake/regions.h"
#include "shape/interpreter/arguments.h"
#include "shape/interpreter/builtin.h"
#include "shape/interpreter/expert_parallel.h"
#include "shape/interpreter/higher_order.h"
#include "shape/interpreter/nested.h"
#include "shape/interpreter/run_body.h"
#include "shape/interpreter/tensor_parallel.h"
#include "shape/interpreter/unmodelled.h"
#include "shape/interpreter/unsupported.h"
#include "shape/interpreter/viewable.h"
#include "shape/lowering/lowering.h"
#include "shape/lowering/real_tensor.h"
#include "shape/lowering/widened.h"
#include "trace/graph/region_markers.h"

namespace symprof::shape {
namespace {

// The results with lists flattened into their elements.
std::vector<c10::IValue> taken_apart(const std::vector<c10::IValue>& results) {
  std::vector<c10::IValue> elements;
  for (const c10::IValue& result : results) {
    if (!result.isList()) {
      elements.push_back(result);
      continue;
    }
    for (const c10::IValue& element : result.toList()) elements.push_back(element);
  }
  return elements;
}

std::string dispatcher_overload(const Node& node) {
  return node.overload == "default" ? "" : node.overload;
}

/// For error messages: ", u0", the symbol of the first data-dependent size in the node's results
/// for which no value was given; empty if there is none.
std::string unbacked_symbol(const Graph& graph, const Node& node) {
  for (const ValueId id : node.outputs) {
    if (id == no_value) continue;
    for (const Dimension& size : graph.values[static_cast<std::size_t>(id)].dimensions)
      if (size.size < 0 && !size.symbol.empty()) return ", " + size.symbol;
  }
  return "";
}

/// The number read from data, if the file fixes its value.
std::optional<c10::IValue> number_from_file(const Graph& graph, const Node& node) {
  if (node.op != "aten::item" || node.outputs.empty() || node.outputs[0] == no_value) return {};
  const Value& result = graph.values[static_cast<std::size_t>(node.outputs[0])];
  if (!result.scalar) return {};
  return std::visit([](auto number) { return c10::IValue(number); }, *result.scalar);
}

}  // namespace

Interpreter::Interpreter(const Graph& graph, c10::Device device, Recompute recompute,
                         Lifetimes lifetimes)
    : Interpreter(
          graph, device, std::move(recompute), lifetimes,
          std::make_shared<trace::KnownLifetimes>(trace::values_dying_after(graph, lifetimes))) {}

Interpreter::Interpreter(const Graph& graph, c10::Device device, Recompute recompute,
                         Lifetimes lifetimes, std::shared_ptr<const trace::KnownLifetimes> known)
    : graph_(graph),
      device_(device),
      recompute_(std::move(recompute)),
      lifetimes_(lifetimes),
      values_(graph.values.size()),
      dtypes_(graph.values.size()),
      known_(std::move(known)) {}

void Interpreter::set(ValueId id, c10::IValue value) {
  const auto index = static_cast<std::size_t>(id);
  if (value.isTensor() && value.toTensor().defined())
    dtypes_.at(index) = meta::dtype_of(value.toTensor().scalar_type());
  values_.at(index) = std::move(value);
}

void Interpreter::run(NodeObserver& observer) {
  meta::Regions regions;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (!trace::obey_marker(graph_.nodes[i], regions)) {
      observer.begin_node(i);
      run_node(i);
      observer.end_node(i);
    }
    drop_dead_values(i);
  }
  at::NoGradGuard no_grad;
  for (const Mutation& mutation : graph_.mutations) {
    const at::Tensor source = get(mutation.source).toTensor();
    at::Tensor target = get(mutation.target).toTensor();
    target.copy_(source);
  }
}

void Interpreter::run_node(std::size_t index) {
  const Node& node = graph_.nodes[index];
  const bool on_host = index < host_.nodes.size() && host_.nodes[index];
  const auto where = [&] {
    return fmt::format("{}: node {} ({}{})", graph_.path, node.name, node.op,
                       unbacked_symbol(graph_, node));
  };
  try {
    if (is_export_assertion(node.op)) return;
    if (node.op.starts_with(builtin_prefix) || node.op.starts_with("aten::") ||
        c10::Dispatcher::singleton().findSchema({node.op, dispatcher_overload(node)}))
      run_aten(node, on_host ? c10::Device(c10::kCPU) : device_);
    else
      run_lowered(node);
  } catch (const meta::MixedDTypes& error) {
    throw dtype_refusal(where(), error.problem(unspelled), node);
  } catch (const DTypeConflict& conflict) {
    DTypeConflict outer(conflict.inside(where()), conflict.origins);
    outer.nested_in = conflict.nested_in;
    outer.nested_in.push_back(index);
    throw outer;
  } catch (const Error& error) {
    throw error.inside(where());
  } catch (const c10::Error& error) {
    const std::string message = meta::first_line(error);
    if (meta::is_about_dtypes(message)) throw dtype_refusal(where(), message, node);
    throw meta::refusal(
        where(), error,
        fmt::format("PyTorch refuses this call; check the shapes that {} and {} give.",
                    setting("inputs"), setting("sizes")));
  } catch (const std::runtime_error& error) {
    // c10/util/TypeCast.h: checked_convert, when a real tensor is filled.
    throw Error(where(), std::string(error.what()) + ".",
                "A number of the file does not fit into the dtype that its tensor has here.");
  }
}

/// The error of a call that PyTorch refuses for its operand dtypes, with the origins of the dtypes.
DTypeConflict Interpreter::dtype_refusal(std::string where, const std::string& problem,
                                         const Node& node) const {
  DTypeOrigins origins = dtype_origins(graph_, node, dtypes_);
  return {Error(std::move(where), problem + origins.text, meta::dtype_advice(graph_.cast_to)),
          std::move(origins.values)};
}

void Interpreter::run_aten(const Node& node, c10::Device device) {
  if (auto number = number_from_file(graph_, node)) return bind_outputs(node, {*std::move(number)});
  if (node.op.starts_with(builtin_prefix)) {
    const Builtin builtin = find_builtin(std::string_view(node.op).substr(builtin_prefix.size()));
    if (builtin == nullptr)
      throw Error("", "no rule for this operator",
                  "`symprof ops` lists the operators that are known.");
    std::vector<at::Scalar> operands;
    for (const Argument& argument : node.arguments) {
      if (const auto* ref = std::get_if<ValueRef>(&argument.value))
        operands.push_back(get(ref->id).toScalar());
      else if (const auto* integer = std::get_if<std::int64_t>(&argument.value))
        operands.emplace_back(*integer);
      else if (const auto* real = std::get_if<double>(&argument.value))
        operands.emplace_back(*real);
      else if (const auto* truth = std::get_if<bool>(&argument.value))
        operands.emplace_back(*truth);
    }
    return bind_outputs(node, {builtin(operands)});
  }
  const auto op = c10::Dispatcher::singleton().findSchema({node.op, dispatcher_overload(node)});
  if (!op)
    throw Error("", "LibTorch has no such operator",
                "It may come from another version, or a custom library.");
  std::vector<c10::IValue> stack = schema_arguments(node, op->schema(), values_, device);
  meta::move_host_inputs(c10::toString(op->operator_name()), stack);
  if (make_viewable(node.op, stack)) copied_for_views_.insert(node.name);
  op->callBoxed(stack);
  bind_outputs(node, std::move(stack));
}

void Interpreter::run_lowered(const Node& node) {
  if (is_of_experts(node.op)) return bind_outputs(node, run_of_experts(node, values_));
  if (is_of_rank(node.op)) return bind_outputs(node, run_of_rank(node, values_, device_));
  if (is_higher_order(node.op))
    return bind_outputs(node, run_higher_order(node, values_, device_, recompute_, lifetimes_));
  if (auto results = run_nested(node, values_, device_, recompute_, lifetimes_))
    return bind_outputs(node, *std::move(results));
  const lowering::Lowering* rule = lowering::find_lowering(node.op);
  if (rule == nullptr) return bind_outputs(node, run_unmodelled(graph_, node, values_, device_));
  std::vector<at::Tensor> inputs;
  for (const Argument& argument : node.arguments) {
    if (!argument.name.empty()) continue;
    const auto* ref = std::get_if<ValueRef>(&argument.value);
    const c10::IValue given = ref != nullptr && ref->id != no_value ? get(ref->id) : c10::IValue();
    if (given.isTensorList())
      for (const at::Tensor& part : given.toTensorVector()) inputs.push_back(part);
    else
      inputs.push_back(given.isTensor() ? given.toTensor() : at::Tensor());
  }
  lowering::OnnxCall call{node, graph_, std::move(inputs), device_};
  std::vector<at::Tensor> tensors = lowering::run_widened(*rule, call);
  std::vector<c10::IValue> results(tensors.begin(), tensors.end());
  if (node.op == "onnx::SplitToSequence" && !node.outputs_are_list)
    results = {c10::IValue(c10::List<at::Tensor>(tensors))};
  bind_outputs(node, std::move(results));
}

void Interpreter::bind_outputs(const Node& node, std::vector<c10::IValue> results) {
  if (node.outputs_are_list) results = taken_apart(results);
  if (node.outputs.size() > results.size())
    throw Error(
        "", fmt::format("{} results, but the graph names {}", results.size(), node.outputs.size()));
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) set(node.outputs[i], std::move(results[i]));
}

void Interpreter::clear_results() {
  for (std::size_t id = 0; id < values_.size(); ++id)
    if (graph_.values[id].kind == ValueKind::result) values_[id] = c10::IValue();
}

void Interpreter::drop_dead_values(std::size_t index) {
  for (const ValueId id : known_->dying_after[index])
    values_[static_cast<std::size_t>(id)] = c10::IValue();
}

namespace {

class Unobserved : public NodeObserver {
 public:
  void begin_node(std::size_t) override {}
  void end_node(std::size_t) override {}
};

/// A constant of a body, as the graph around it has them: integers and scalars are real, the others
/// lie on the device.
c10::IValue constant_of(const Value& value, c10::Device device) {
  if (value.scalar)
    return std::visit([](auto number) { return c10::IValue(number); }, *value.scalar);
  const bool has_data = value.constant != nullptr;
  const bool small = has_data && (!is_floating_point(value.constant->spec.dtype) ||
                                  value.constant->spec.sizes.empty());
  if (has_data && (small || device.is_cpu())) return lowering::real_tensor(*value.constant);
  if (!value.spec || device.is_cpu())
    throw Error("", fmt::format("'{}' of a nested graph has no data", value.name));
  return meta::make_fake(*value.spec);
}

}  // namespace

std::vector<c10::IValue> run_body(const Graph& body, std::vector<c10::IValue> inputs,
                                  c10::Device device, const Recompute& recompute,
                                  Lifetimes lifetimes) {
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
  std::vector<c10::IValue> outputs;
  for (const ValueId id : body.outputs) outputs.push_back(interpreter.get(id));
  return outputs;
}

}  // namespace symprof::shape

#include "meta/kernels/out_variants.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "meta/fake/shape_kernel.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

struct Arguments {
  torch::jit::Stack inputs;
  std::vector<at::Tensor> outputs;
};

// Pops the arguments from the stack, split into inputs and outputs.
Arguments take_arguments(const c10::FunctionSchema& schema, torch::jit::Stack* stack) {
  Arguments result;
  const auto& arguments = schema.arguments();
  const std::size_t first = stack->size() - arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_out()) {
      result.outputs.push_back((*stack)[first + i].toTensor());
    } else {
      result.inputs.push_back((*stack)[first + i]);
    }
  }
  stack->resize(first);
  return result;
}

void push_outputs(const std::vector<at::Tensor>& outputs, torch::jit::Stack* stack) {
  for (const at::Tensor& output : outputs) stack->emplace_back(output);
}

/// The functional overload of each `out=` overload.
std::unordered_map<c10::OperatorName, c10::OperatorHandle>& counterparts() {
  static auto* found = new std::unordered_map<c10::OperatorName, c10::OperatorHandle>;
  return *found;
}

bool are_same(const c10::Argument& a, const c10::Argument& b) {
  return a.name() == b.name() && *a.type() == *b.type() && a.alias_info() == nullptr &&
         b.alias_info() == nullptr;
}

/// True if `functional` takes the non-output arguments of `schema` and writes none.
bool is_functional_of(const c10::FunctionSchema& functional, const c10::FunctionSchema& schema) {
  std::vector<const c10::Argument*> inputs;
  for (const c10::Argument& argument : schema.arguments())
    if (!argument.is_out()) inputs.push_back(&argument);
  return functional.returns().size() == schema.returns().size() &&
         std::ranges::equal(
             functional.arguments(), inputs,
             [](const c10::Argument& a, const c10::Argument* b) { return are_same(a, *b); });
}

bool writes_tensors_alone(const c10::FunctionSchema& schema) {
  const auto is_tensor = [](const c10::Argument& argument) {
    return argument.type()->kind() == c10::TypeKind::TensorType;
  };
  const auto is_input_or_tensor = [&](const c10::Argument& argument) {
    return !argument.is_out() || is_tensor(argument);
  };
  return std::ranges::any_of(schema.arguments(), &c10::Argument::is_out) &&
         std::ranges::all_of(schema.arguments(), is_input_or_tensor) &&
         std::ranges::all_of(schema.returns(), is_tensor);
}

using Overloads = std::map<std::string, std::vector<c10::OperatorHandle>>;

Overloads overloads_of_aten() {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  Overloads overloads;
  for (const c10::OperatorName& name : dispatcher.getAllOpNames())
    if (name.name.starts_with("aten::"))
      if (const auto op = dispatcher.findSchema(name)) overloads[name.name].push_back(*op);
  return overloads;
}

/// The functional form's name; it differs for one operator.
std::string functional_name(const std::string& name) {
  return name == "aten::adaptive_avg_pool3d_backward" ? "aten::_adaptive_avg_pool3d_backward"
                                                      : name;
}

std::optional<c10::OperatorHandle> functional_of(const c10::OperatorHandle& op,
                                                 const Overloads& overloads) {
  if (!writes_tensors_alone(op.schema())) return std::nullopt;
  const auto named = overloads.find(functional_name(op.schema().name()));
  if (named == overloads.end()) return std::nullopt;
  for (const c10::OperatorHandle& other : named->second)
    if (is_functional_of(other.schema(), op.schema()) && meta::has_shape_kernel(other))
      return other;
  return std::nullopt;
}

/// Detects recursion: a composite operator may allocate its result and call its own `out=`
/// overload.
class OneAtATime {
 public:
  explicit OneAtATime(const c10::OperatorHandle& op) {
    if (std::ranges::find(running_, op.operator_name()) != running_.end())
      throw meta::no_shape_kernel(op);
    running_.push_back(op.operator_name());
  }
  ~OneAtATime() { running_.pop_back(); }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  inline static thread_local std::vector<c10::OperatorName> running_;
};

/// For an operator that allocates no tensor and keeps the sizes of its outputs.
void write_in_place(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, op.schema().arguments().size());
}

}  // namespace

void elementwise_into(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  auto arguments = take_arguments(op.schema(), stack);
  std::vector<at::Tensor> inputs;
  for (const auto& value : arguments.inputs) {
    if (value.isTensor()) inputs.push_back(value.toTensor());
  }
  for (at::Tensor& output : arguments.outputs) pointwise_into(inputs, output);
  push_outputs(arguments.outputs, stack);
}

void functional_into(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const OneAtATime one(op);
  auto arguments = take_arguments(op.schema(), stack);
  counterparts().at(op.operator_name()).callBoxed(&arguments.inputs);
  for (std::size_t i = 0; i < arguments.outputs.size(); ++i) {
    resize_into(arguments.outputs[i], arguments.inputs.at(i).toTensor().sizes());
  }
  push_outputs(arguments.outputs, stack);
}

void register_out_variants(torch::Library& library) {
  const Overloads overloads = overloads_of_aten();
  for (const auto& [name, handles] : overloads)
    for (const c10::OperatorHandle& op : handles) {
      if (meta::has_shape_kernel(op)) continue;
      const std::string full = c10::toString(op.operator_name());
      if (op.schema().returns().empty()) {
        library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&write_in_place>());
      } else if (const auto functional = functional_of(op, overloads)) {
        counterparts().emplace(op.operator_name(), *functional);
        library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&functional_into>());
      }
    }
}

}  // namespace symprof::kernels

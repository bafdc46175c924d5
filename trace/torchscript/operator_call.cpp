#include "trace/torchscript/operator_call.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/host_inputs.h"
#include "meta/fake/known_values.h"

namespace symprof::trace::torchscript {
namespace {

using Values = std::vector<c10::IValue>;

// `visit(tensor)` for every defined tensor, those in lists too.
template <class Visit>
void for_each_tensor(const Values& values, Visit&& visit) {
  for (const c10::IValue& value : values) {
    if (value.isTensor() && value.toTensor().defined()) {
      visit(value.toTensor());
    } else if (value.isTensorList() || value.isOptionalTensorList()) {
      for (const c10::IValue& element : value.toList())
        if (element.isTensor() && element.toTensor().defined()) visit(element.toTensor());
    }
  }
}

struct Tensors {
  bool any_fake = false, any_real = false;
};

Tensors tensors_in(const Values& values) {
  Tensors found;
  for_each_tensor(values, [&](const at::Tensor& tensor) {
    (meta::is_fake(tensor) ? found.any_fake : found.any_real) = true;
  });
  return found;
}

bool makes_unknown_tensor(const Values& results, const GraphRecorder& recorder) {
  bool found = false;
  for_each_tensor(results, [&](const at::Tensor& tensor) {
    found |= meta::is_fake(tensor) && !recorder.knows(tensor);
  });
  return found;
}

bool takes_tensor(const c10::Argument& argument) {
  const c10::Type* type = argument.real_type().get();
  if (type->kind() == c10::TypeKind::OptionalType)
    type = type->castRaw<c10::OptionalType>()->getElementType().get();
  return type->kind() != c10::TypeKind::NumberType && type->kind() != c10::TypeKind::IntType &&
         type->kind() != c10::TypeKind::FloatType;
}

// torch.jit.trace computes sizes as tensors and passes them as numbers (prim::ImplicitTensorToNum);
// ATen would accept such a tensor, but it is a number.
void take_numbers_out_of_tensors(const torch::jit::Node& node, Values& inputs) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return;
  const std::size_t count = std::min(inputs.size(), schema->arguments().size());
  for (std::size_t i = 0; i < count; ++i) {
    if (!inputs[i].isTensor() || takes_tensor(schema->arguments()[i])) continue;
    const auto values = meta::known_values(inputs[i].toTensor());
    if (values && values->numel() == 1) inputs[i] = values->item();
  }
}

// `x.to(device)` is traced as aten::to.dtype_layout with x's dtype, which the model did not request
// (see trace/passes/cast_floating_point.cpp for graphs).
void cast_move(const torch::jit::Node& node, DType dtype, Values& inputs) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || schema->name() != "aten::to" ||
      schema->overload_name() != "dtype_layout" || !inputs.at(1).isInt())
    return;
  if (at::isFloatingType(inputs[1].toScalarType())) inputs[1] = meta::scalar_type(dtype);
}

bool is_in_dispatcher(const c10::FunctionSchema& schema) {
  return c10::Dispatcher::singleton().findSchema(schema.operator_name()).has_value();
}

/// True for `x.cpu()`, a no-op like `x.to("cpu")`: a graph has one device.
bool is_move_to_host(const torch::jit::Node& node) {
  static const auto move = c10::Symbol::fromQualString("aten::cpu");
  return node.kind() == move;
}

/// False for operators that only read devices: `x.device.type == "cpu"`.
bool makes_tensor(const torch::jit::Node& node) {
  return std::ranges::any_of(node.outputs(), [](const torch::jit::Value* output) {
    return output->type()->kind() != c10::TypeKind::BoolType &&
           output->type()->kind() != c10::TypeKind::StringType;
  });
}

/// Sequences between two numbers. A trace passes sizes as host tensors, which do not determine the
/// sequence's device.
bool makes_sequence(const torch::jit::Node& node) {
  return node.kind() == c10::aten::linspace || node.kind() == c10::aten::logspace;
}

/// "aten::lstm.data", with the overload.
std::string full_name(const torch::jit::Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema == nullptr ? node.kind().toQualString() : c10::toString(schema->operator_name());
}

/// True for operators that make a tensor from a number; it then promotes as a tensor.
bool copies_tensor(const torch::jit::Node& node) {
  return node.kind() == c10::aten::to || node.kind() == c10::aten::detach;
}

bool is_number(const at::Tensor& tensor) {
  return tensor.defined() && !meta::is_fake(tensor) && tensor.dim() == 0 &&
         (tensor.scalar_type() == at::kDouble || tensor.scalar_type() == at::kLong);
}

/// A no-op `weight.to(x.dtype)` returns the weight itself. Its result gets its own value, because
/// in another dtype the cast's result is not the weight.
void tell_from_leaf(const torch::jit::Node& node, const Values& inputs, Values& results,
                    const GraphRecorder& recorder) {
  const bool is_cast = node.kind() == c10::aten::to || node.kind() == c10::aten::type_as;
  if (!is_cast || results.size() != 1 || !results[0].isTensor() || !inputs.at(0).isTensor()) return;
  const at::Tensor made = results[0].toTensor();
  if (!meta::is_fake(made) || !made.is_same(inputs[0].toTensor()) || !recorder.is_leaf(made))
    return;
  at::Tensor other(
      made.unsafeGetTensorImpl()->shallow_copy_and_detach(c10::VariableVersion(0), false));
  other.set_requires_grad(made.requires_grad());
  results[0] = std::move(other);
}

/// aten::_shape_as_tensor reads only sizes, which are known.
std::optional<at::Tensor> shape_as_tensor(const torch::jit::Node& node, const Values& inputs) {
  static const auto shape_op = c10::Symbol::fromQualString("aten::_shape_as_tensor");
  if (node.kind() != shape_op || !inputs.at(0).isTensor()) return std::nullopt;
  const auto sizes = inputs[0].toTensor().sizes();
  at::Tensor shape = at::empty({static_cast<std::int64_t>(sizes.size())},
                               at::TensorOptions(at::kLong).device(at::kCPU));
  std::ranges::copy(sizes, shape.mutable_data_ptr<std::int64_t>());
  return shape;
}

/// `x[:]` calls no slice operator in Python, except while tracing (applySlice in
/// torch/csrc/autograd/python_variable_indexing.cpp): indexing returns an alias, without backward
/// work.
bool slices_nothing_off(const torch::jit::Node& node, const Values& inputs) {
  if (node.kind() != c10::aten::slice || inputs.size() != 5 || !inputs[0].isTensor() ||
      !meta::is_fake(inputs[0].toTensor()) || !inputs[1].isInt())
    return false;
  const auto is_or_none = [&](std::size_t i, std::int64_t wanted) {
    return inputs[i].isNone() || (inputs[i].isInt() && inputs[i].toInt() == wanted);
  };
  const std::int64_t size = inputs[0].toTensor().size(inputs[1].toInt());
  const bool reaches_end = inputs[3].isNone() || (inputs[3].isInt() && inputs[3].toInt() >= size);
  return is_or_none(2, 0) && reaches_end && is_or_none(4, 1);
}

/// A device tensor that Python creates from numbers in the code, copied from the host.
at::Tensor filled(const at::Tensor& numbers, GraphRecorder& recorder, ScopeId scope) {
  static const auto full = c10::Dispatcher::singleton().findSchemaOrThrow("aten::full", "");
  const at::Tensor made = meta::make_fake(meta::spec_of(numbers));
  const Values given = {
      numbers.sizes().vec(), 0, c10::IValue(numbers.scalar_type()), c10::IValue(), c10::IValue(),
      c10::IValue()};
  const Values results = {made};
  recorder.add_call(full.schema(), given, results, scope);
  return made;
}

/// True if the node creates a tensor from numbers in the code: a constant moved to the device.
bool is_list_of_code(const torch::jit::Node& node) {
  static const auto lift = c10::Symbol::fromQualString("aten::lift_fresh");
  const torch::jit::Node* made = &node;
  while (made->kind() == c10::aten::to || made->kind() == lift) made = made->input(0)->node();
  return made->kind() == c10::prim::Constant;
}

/// `x[i]` and `x[i] = y`, whose indices are the second argument.
bool takes_indices(const torch::jit::Node& node) {
  return node.kind() == c10::aten::index || node.kind() == c10::aten::index_put ||
         node.kind() == c10::aten::index_put_;
}

/// `x[..., [-1]]`: Python makes a tensor of the list on the device of x (sequenceToVariable in
/// torch/csrc/autograd/python_variable_indexing.cpp), and a trace has that tensor as a constant.
void lift_indices(const torch::jit::Node& node, Values& inputs, GraphRecorder& recorder,
                  ScopeId scope) {
  if (!takes_indices(node) || !inputs.at(0).isTensor() || !inputs.at(1).isList() ||
      !meta::is_fake(inputs[0].toTensor()))
    return;
  const torch::jit::Node* list = node.input(1)->node();
  if (list->kind() != c10::prim::ListConstruct) return;
  c10::impl::GenericList indices = inputs[1].toList().copy();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const c10::IValue index = indices.get(i);
    if (!is_list_of_code(*list->input(i)->node()) || !index.isTensor() ||
        !index.toTensor().defined())
      continue;
    const at::Tensor& tensor = index.toTensor();
    if (tensor.dim() > 0 && tensor.scalar_type() == at::kLong)
      indices.set(i, filled(tensor, recorder, scope));
  }
  inputs[1] = indices;
}

Values alias_of(const at::Tensor& tensor, GraphRecorder& recorder, ScopeId scope) {
  static const auto alias = c10::Dispatcher::singleton().findSchemaOrThrow("aten::alias", "");
  const Values given = {tensor};
  Values results = {at::alias(tensor)};
  recorder.add_call(alias.schema(), given, results, scope);
  return results;
}

}  // namespace

void take_constants_as_numbers(const torch::jit::Node& node, Values& inputs) {
  if (copies_tensor(node)) return;
  for (std::size_t i = 0; i < std::min(inputs.size(), node.inputs().size()); ++i) {
    const bool is_constant = node.input(i)->node()->kind() == c10::prim::Constant;
    if (!is_constant || !inputs[i].isTensor() || !is_number(inputs[i].toTensor())) continue;
    const at::Tensor number = inputs[i].toTensor().clone();
    number.unsafeGetTensorImpl()->set_wrapped_number(true);
    inputs[i] = number;
  }
}

Values run_recorded(const torch::jit::Node& node, Values inputs, GraphRecorder& recorder,
                    ScopeId scope, std::optional<DType> cast) {
  if (auto shape = shape_as_tensor(node, inputs)) return {*std::move(shape)};
  if (is_move_to_host(node) && meta::is_fake(inputs.at(0).toTensor())) return inputs;
  take_numbers_out_of_tensors(node, inputs);
  if (slices_nothing_off(node, inputs)) return alias_of(inputs[0].toTensor(), recorder, scope);
  if (cast) cast_move(node, *cast, inputs);
  lift_indices(node, inputs, recorder, scope);
  const Tensors given = tensors_in(inputs);
  if (makes_tensor(node) && (given.any_fake || !given.any_real || makes_sequence(node)))
    for (c10::IValue& input : inputs)
      if (input.isDevice()) input = c10::Device(c10::kCUDA, 0);
  const bool grad_before = at::GradMode::is_enabled();
  const c10::FunctionSchema* schema = node.maybeSchema();
  Values stack = inputs;
  // `"{}".format(x)`: a vararg operator reads its input count from the stack
  // (CodeImpl::emitOperator in torch/csrc/jit/runtime/interpreter/code_impl.h).
  if (schema != nullptr && schema->is_vararg() && node.getOperator().hasOperation())
    stack.emplace_back(static_cast<std::int64_t>(inputs.size()));
  meta::move_host_inputs(full_name(node), stack);
  node.getOperation()(stack);
  tell_from_leaf(node, inputs, stack, recorder);
  recorder.set_grad_mode(grad_before, at::GradMode::is_enabled(), scope);

  const bool changes = schema != nullptr && schema->is_mutable() && given.any_fake;
  const bool makes = tensors_in(stack).any_fake;
  if (!changes && !makes) return stack;
  if (schema != nullptr && is_in_dispatcher(*schema)) {
    if (changes || makes) recorder.add_call(*schema, inputs, stack, scope);
  } else if (given.any_fake && makes_unknown_tensor(stack, recorder)) {
    throw Error(
        "", "is no operator of ATen, and makes a tensor from tensors",
        "Write this line of the model with ATen operators, or export it with torch.export.");
  }
  return stack;
}

}  // namespace symprof::trace::torchscript

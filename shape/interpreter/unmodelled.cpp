#include "shape/interpreter/unmodelled.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/kernels/unmodelled.h"

namespace symprof::shape {
namespace {

using Tensors = std::vector<at::Tensor>;

thread_local AssumedSaved assumed = AssumedSaved::unknown;

bool saves_inputs() { return assumed == AssumedSaved::inputs || assumed == AssumedSaved::both; }
bool saves_outputs() { return assumed == AssumedSaved::outputs || assumed == AssumedSaved::both; }

/// Its backward is one call, too: gradients and what was saved in, gradients of the inputs out.
struct Unmodelled : torch::autograd::Function<Unmodelled> {
  static Tensors forward(torch::autograd::AutogradContext* context, at::TensorList inputs,
                         const std::string& op, const std::vector<TensorSpec>& results,
                         c10::Device device) {
    const Tensors given = inputs.vec();
    Tensors made = kernels::call_unmodelled(op, given, results, device);
    Tensors saved, without_gradient;
    if (saves_inputs()) saved = given;
    if (saves_outputs()) saved.insert(saved.end(), made.begin(), made.end());
    for (const at::Tensor& tensor : made)
      if (!tensor.is_floating_point() && !tensor.is_complex()) without_gradient.push_back(tensor);
    context->mark_non_differentiable(without_gradient);
    context->save_for_backward(saved);
    context->saved_data["op"] = op;
    context->saved_data["device"] = device;
    for (const at::Tensor& input : given) {
      c10::List<int64_t> spec{static_cast<std::int64_t>(input.scalar_type())};
      spec.append(c10::List<int64_t>(input.sizes()));
      context->saved_data["input" + std::to_string(&input - given.data())] = spec;
    }
    context->saved_data["inputs"] = static_cast<std::int64_t>(given.size());
    return made;
  }

  static Tensors backward(torch::autograd::AutogradContext* context, const Tensors& gradients) {
    Tensors read;
    for (const at::Tensor& gradient : gradients)
      if (gradient.defined()) read.push_back(gradient);
    for (const at::Tensor& tensor : context->get_saved_variables()) read.push_back(tensor);
    const auto count = static_cast<std::size_t>(context->saved_data["inputs"].toInt());
    std::vector<TensorSpec> wanted;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < count; ++i) {
      if (!context->needs_input_grad(i)) continue;
      auto sizes = context->saved_data["input" + std::to_string(i)].toIntVector();
      const auto dtype = static_cast<DType>(sizes.front());
      sizes.erase(sizes.begin());
      wanted.push_back({.dtype = dtype, .sizes = std::move(sizes)});
      places.push_back(i);
    }
    Tensors all(count + 3);  // The operator, results and device have no gradient.
    const Tensors made = kernels::call_unmodelled(context->saved_data["op"].toStringRef(), read,
                                                  wanted, context->saved_data["device"].toDevice());
    for (std::size_t i = 0; i < places.size(); ++i) all[places[i]] = made[i];
    return all;
  }
};

/// All tensors among the arguments, those in lists too.
Tensors tensors_of(const Node& node, const std::vector<c10::IValue>& values) {
  Tensors found;
  for_each_value(node, [&](ValueId id) {
    if (id == no_value) return;
    const c10::IValue& value = values.at(static_cast<std::size_t>(id));
    if (value.isTensor() && value.toTensor().defined()) found.push_back(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& part : value.toTensorVector()) found.push_back(part);
  });
  return found;
}

bool needs_gradient(const Tensors& inputs, const std::vector<TensorSpec>& results) {
  return at::GradMode::is_enabled() &&
         std::ranges::any_of(inputs, [](const at::Tensor& t) { return t.requires_grad(); }) &&
         std::ranges::any_of(results,
                             [](const TensorSpec& spec) { return is_floating_point(spec.dtype); });
}

void refuse_to_train() {
  throw Error("",
              "training goes through this operator, which has no rule: what it saves for backward "
              "is not known",
              fmt::format("Say it with {} (or inputs, both, nothing), or look at {}.",
                          setting("assume_saved", "outputs"), setting("mode", "inference")));
}

}  // namespace

AssumeSaved::AssumeSaved(AssumedSaved saved) : before_(assumed) { assumed = saved; }
AssumeSaved::~AssumeSaved() { assumed = before_; }

std::optional<std::vector<TensorSpec>> recorded_results(const Graph& graph, const Node& node) {
  std::vector<TensorSpec> specs;
  for (const ValueId id : node.outputs) {
    if (id == no_value) continue;
    const Value& value = graph.value(id);
    if (!value.recorded_dtype || !value.recorded_sizes) return std::nullopt;
    TensorSpec spec{.dtype = *value.recorded_dtype};
    if (graph.cast_to && is_floating_point(spec.dtype)) spec.dtype = *graph.cast_to;
    for (const Dimension& dimension : *value.recorded_sizes) {
      if (dimension.size < 0) return std::nullopt;
      spec.sizes.push_back(dimension.size);
    }
    spec.strides = contiguous_strides(spec.sizes);
    specs.push_back(std::move(spec));
  }
  if (specs.empty()) return std::nullopt;
  return specs;
}

std::vector<c10::IValue> run_unmodelled(const Graph& graph, const Node& node,
                                        const std::vector<c10::IValue>& values,
                                        c10::Device device) {
  const auto results = recorded_results(graph, node);
  if (!results)
    throw Error("", "no rule for this operator, and the file has no shapes of its results",
                "`symprof ops` lists the operators that are known.");
  const Tensors inputs = tensors_of(node, values);
  Tensors made;
  if (needs_gradient(inputs, *results)) {
    if (assumed == AssumedSaved::unknown) refuse_to_train();
    made = Unmodelled::apply(at::TensorList(inputs), node.op, *results, device);
  } else {
    made = kernels::call_unmodelled(node.op, inputs, *results, device);
  }
  std::vector<c10::IValue> all;
  std::size_t next = 0;
  for (const ValueId id : node.outputs)
    all.push_back(id == no_value ? c10::IValue() : c10::IValue(made.at(next++)));
  return all;
}

}  // namespace symprof::shape

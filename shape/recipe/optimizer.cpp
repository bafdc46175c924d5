#include "shape/recipe/optimizer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "record/optimizers.h"

namespace symprof::shape {
namespace {

const OptimizerRule& rule_of(Optimizer optimizer) {
  for (const auto family : optimizer_families)
    for (const OptimizerRule& rule : family())
      if (rule.optimizer == optimizer) return rule;
  throw Error("optimizer", "it has no step.", "Choose one of the optimizers that have.");
}

// torch/optim/{optimizer,_adafactor}.py raise the same error.
void refuse_complex(const OptimizerRule& rule, OptimizerVariant variant, const Tensors& updated) {
  if (std::ranges::none_of(updated, [](const at::Tensor& tensor) { return tensor.is_complex(); }))
    return;
  if (rule.complex == Complex::refused)
    throw Error("",
                fmt::format("{} takes no complex parameters, and the model has some.",
                            info_of(rule.optimizer).name),
                "Choose another one.");
  if (variant == OptimizerVariant::fused)
    throw Error("", "fused updates take no complex parameters, and the model has some.",
                "Choose the variant foreach or single.");
}

OptimizerTensors slice(const OptimizerTensors& all, std::size_t begin, std::size_t end) {
  const auto part = [&](const Tensors& list) {
    // States of a later group may not exist yet.
    const std::size_t there = std::min(end, list.size());
    if (begin >= there) return Tensors();
    return Tensors(list.begin() + static_cast<std::ptrdiff_t>(begin),
                   list.begin() + static_cast<std::ptrdiff_t>(there));
  };
  OptimizerTensors group{.parameters = part(all.parameters), .gradients = part(all.gradients)};
  for (const Tensors& states : all.states) group.states.push_back(part(states));
  return group;
}

}  // namespace

OptimizerStep::OptimizerStep(const StepOptions& options, const Tensors& parameters)
    : rule_(rule_of(options.optimizer)), variant_(variant_of(options)) {
  if (!has_variant(options.optimizer, variant_))
    throw Error("optimizer", "it has no such variant.",
                "`optimizers` in record/optimizers.h has those that there are.");
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) tensors_.gradients.push_back(parameter.grad());
    has_gradient_.push_back(parameter.grad().defined());
    (parameter.grad().defined() ? tensors_ : idle_).parameters.push_back(parameter);
  }
  refuse_complex(rule_, variant_, tensors_.parameters);
}

void OptimizerStep::take_gradients() {
  tensors_.gradients.clear();
  for (const at::Tensor& parameter : tensors_.parameters)
    tensors_.gradients.push_back(parameter.grad());
}

void OptimizerStep::make_states() {
  for (std::size_t group = 0; group < groups(); ++group) make_states(group);
}

void OptimizerStep::make_states(std::size_t group) {
  OptimizerTensors own = part(group);
  own.states.clear();
  rule_.make_states(own, variant_);
  tensors_.states.resize(own.states.size());
  for (std::size_t i = 0; i < own.states.size(); ++i)
    tensors_.states[i].insert(tensors_.states[i].end(), own.states[i].begin(), own.states[i].end());
  const bool is_last = group + 1 == groups();
  if (is_last && rule_.states_made == StatesMade::with_optimizer)
    rule_.make_states(idle_, variant_);
}

void OptimizerStep::for_each_state(
    const std::function<void(const at::Tensor&, const at::Tensor&)>& visit) const {
  for (const OptimizerTensors* tensors : {&tensors_, &idle_})
    for (const Tensors& states : tensors->states)
      for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i].defined()) visit(states[i], tensors->parameters[i]);
}

void OptimizerStep::begin_group(std::size_t parameter) {
  second_group_ = static_cast<std::size_t>(std::count(
      has_gradient_.begin(), has_gradient_.begin() + static_cast<std::ptrdiff_t>(parameter), true));
}

OptimizerTensors OptimizerStep::part(std::size_t group) const {
  if (!has_second_group()) return tensors_;
  return group == 0 ? slice(tensors_, 0, second_group_)
                    : slice(tensors_, second_group_, tensors_.parameters.size());
}

void OptimizerStep::run(const FusedScaling& scaling) const {
  for (std::size_t group = 0; group < groups(); ++group) run(group, scaling);
}

void OptimizerStep::run(std::size_t group, const FusedScaling& scaling) const {
  run_group(part(group), scaling);
}

void OptimizerStep::run_group(const OptimizerTensors& group, const FusedScaling& scaling) const {
  switch (variant_) {
    case OptimizerVariant::single:
      return rule_.single(group);
    case OptimizerVariant::foreach:
      return rule_.foreach (group);
    case OptimizerVariant::fused:
      return rule_.fused(group, scaling);
  }
}

}  // namespace symprof::shape

// One optimizer step as Python's torch.optim makes it, call by call.
#pragma once

#include <functional>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {

/// The optimizer of a step and its tensors.
class OptimizerStep {
 public:
  /// `parameters` are all that the optimizer is given; those without a gradient are skipped. Throws
  /// Error if the optimizer has no such variant.
  OptimizerStep(const StepOptions& options, const Tensors& parameters);

  /// The given parameters from this one on form a second group.
  void begin_group(std::size_t parameter);
  /// Takes the gradients of the same parameters from a later backward.
  void take_gradients();
  /// Releases the gradients.
  void release_gradients() { tensors_.gradients.clear(); }

  const Tensors& gradients() const { return tensors_.gradients; }
  StatesMade states_made() const { return rule_.states_made; }
  OptimizerVariant variant() const { return variant_; }
  /// Creates the state tensors as an earlier step, or the optimizer's constructor, would have left
  /// them: fake tensors, without a call.
  void make_states();
  /// Creates one group's states, in group order. An update creates them right before the group's
  /// calls.
  void make_states(std::size_t group);
  std::size_t groups() const { return has_second_group() ? 2 : 1; }
  /// Calls `visit(state, parameter)` for each state tensor.
  void for_each_state(const std::function<void(const at::Tensor&, const at::Tensor&)>& visit) const;
  /// Makes the calls of the update, with PyTorch's default hyperparameters (SGD's momentum is 0.9
  /// where it has one).
  void run(const FusedScaling& scaling = {}) const;
  void run(std::size_t group, const FusedScaling& scaling) const;

 private:
  bool has_second_group() const {
    return second_group_ > 0 && second_group_ < tensors_.parameters.size();
  }
  OptimizerTensors part(std::size_t group) const;
  void run_group(const OptimizerTensors& group, const FusedScaling& scaling) const;

  const OptimizerRule& rule_;
  OptimizerVariant variant_;
  OptimizerTensors tensors_;
  std::vector<bool> has_gradient_;  ///< By given parameter.
  std::size_t second_group_ = 0;    ///< Its begin in `tensors_`; 0: there is one group.
  OptimizerTensors idle_;           ///< Parameters without a gradient.
};

}  // namespace symprof::shape

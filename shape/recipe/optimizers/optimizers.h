// The steps of torch.optim's optimizers, call by call, and what they keep between steps.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "record/step_options.h"

namespace symprof::shape {

using Tensors = std::vector<at::Tensor>;

/// One parameter group as the functional forms of torch.optim take it: lists with an element for
/// each parameter. An optimizer numbers the lists of its states as it likes (`enum State` in its
/// file); those that it does not have are missing. Counters of steps are among them for fused
/// variants alone, as the others keep them in host memory.
struct OptimizerTensors {
  Tensors parameters, gradients;
  std::vector<Tensors> states;
};

/// The groups in which foreach and fused steps run, in PyTorch's order
/// (`_group_tensors_by_device_and_dtype` of ATen/native/ForeachUtils.h).
std::vector<OptimizerTensors> by_dtype(const OptimizerTensors& tensors);

/// The tensor, or a view of the numbers that make up complex ones.
at::Tensor as_real(const at::Tensor& tensor);

/// `_view_as_real` of torch/optim/optimizer.py: of all lists of a group.
void view_as_real(OptimizerTensors& group);

/// What GradScaler hands to a fused step, or nothing.
struct FusedScaling {
  std::optional<at::Tensor> grad_scale, found_inf;
};

/// What complex parameters are to an optimizer; fused updates refuse them by themselves.
enum class Complex : std::uint8_t { taken, refused };

/// When an optimizer makes its states: in the first update, of parameters that have gradients, or
/// in its own constructor, of all that it is given.
enum class StatesMade : std::uint8_t { in_first_update, with_optimizer };

/// A variant that an optimizer does not have is null.
struct OptimizerRule {
  Optimizer optimizer;
  /// Makes the state tensors.
  void (*make_states)(OptimizerTensors&, OptimizerVariant);
  void (*single)(const OptimizerTensors&);
  void (*foreach)(const OptimizerTensors&) = nullptr;
  void (*fused)(const OptimizerTensors&, const FusedScaling&) = nullptr;
  Complex complex = Complex::taken;
  StatesMade states_made = StatesMade::in_first_update;
};

using OptimizerRules = std::span<const OptimizerRule>;
/// A family's rules, in the family's file.
OptimizerRules sgd_rules();
OptimizerRules adam_rules();
OptimizerRules rmsprop_rules();
OptimizerRules adafactor_rules();
OptimizerRules lion_rules();
OptimizerRules adagrad_rules();
inline constexpr OptimizerRules (*optimizer_families[])() = {
    sgd_rules, adam_rules, rmsprop_rules, adafactor_rules, lion_rules, adagrad_rules};

/// A state tensor, made without a call: `state_like` as zeros_like makes it, with the strides of
/// `tensor` where that is dense; `state_of` as new_zeros.
at::Tensor state_like(const at::Tensor& tensor);
at::Tensor state_like(const at::Tensor& tensor, at::ScalarType dtype);
at::Tensor state_of(at::IntArrayRef sizes, at::ScalarType dtype);

/// A tensor that a step has before it runs, made without a call: fake under a FakeMode, elsewhere
/// zeros on the device of MakeOn, or of the CPU.
at::Tensor made_tensor(const TensorSpec& spec);

/// While it lives, made_tensor() makes real tensors of this thread on `device`.
class MakeOn {
 public:
  explicit MakeOn(c10::Device device);
  ~MakeOn();
  MakeOn(const MakeOn&) = delete;
  MakeOn& operator=(const MakeOn&) = delete;

 private:
  c10::Device before_;
};

}  // namespace symprof::shape

// The steps of torch.optim's optimizers, call by call, and the states they keep.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "record/step_options.h"

namespace symprof::shape {

using Tensors = std::vector<at::Tensor>;

/// One parameter group as the functional forms of torch.optim take it: lists with one element per
/// parameter. Each optimizer numbers its state lists itself (`enum State` in its file); lists that
/// it lacks are missing. Step counters are included for fused variants only; other variants keep
/// them in host memory.
struct OptimizerTensors {
  Tensors parameters, gradients;
  std::vector<Tensors> states;
};

/// The groups in which foreach and fused steps run, in PyTorch's order
/// (`_group_tensors_by_device_and_dtype` of ATen/native/ForeachUtils.h).
std::vector<OptimizerTensors> by_dtype(const OptimizerTensors& tensors);

/// The tensor, or a real view of a complex tensor.
at::Tensor as_real(const at::Tensor& tensor);

/// `_view_as_real` of torch/optim/optimizer.py: converts all lists of a group.
void view_as_real(OptimizerTensors& group);

/// GradScaler's arguments for a fused step, if any.
struct FusedScaling {
  std::optional<at::Tensor> grad_scale, found_inf;
};

/// An optimizer's support for complex parameters; fused updates refuse them themselves.
enum class Complex : std::uint8_t { taken, refused };

/// When an optimizer creates its states: in the first update, for parameters with gradients, or in
/// its constructor, for all parameters.
enum class StatesMade : std::uint8_t { in_first_update, with_optimizer };

/// Null for a variant that the optimizer does not have.
struct OptimizerRule {
  Optimizer optimizer;
  /// Creates the state tensors.
  void (*make_states)(OptimizerTensors&, OptimizerVariant);
  void (*single)(const OptimizerTensors&);
  void (*foreach)(const OptimizerTensors&) = nullptr;
  void (*fused)(const OptimizerTensors&, const FusedScaling&) = nullptr;
  Complex complex = Complex::taken;
  StatesMade states_made = StatesMade::in_first_update;
};

using OptimizerRules = std::span<const OptimizerRule>;
/// A family's rules, defined in the family's file.
OptimizerRules sgd_rules();
OptimizerRules adam_rules();
OptimizerRules rmsprop_rules();
OptimizerRules adafactor_rules();
OptimizerRules lion_rules();
OptimizerRules adagrad_rules();
inline constexpr OptimizerRules (*optimizer_families[])() = {
    sgd_rules, adam_rules, rmsprop_rules, adafactor_rules, lion_rules, adagrad_rules};

/// A state tensor, created without a call: `state_like` as zeros_like creates it, with the strides
/// of `tensor` if that is dense; `state_of` as new_zeros.
at::Tensor state_like(const at::Tensor& tensor);
at::Tensor state_like(const at::Tensor& tensor, at::ScalarType dtype);
at::Tensor state_of(at::IntArrayRef sizes, at::ScalarType dtype);

/// A tensor that exists before the step, created without a call: fake under a FakeMode, else zeros
/// on the device of MakeOn, or on the CPU.
at::Tensor made_tensor(const TensorSpec& spec);

/// While it lives, made_tensor() creates this thread's real tensors on `device`.
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

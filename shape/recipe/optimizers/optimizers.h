// The steps of torch.optim's optimizers, call by call, and what they keep between steps.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <vector>

#include "record/step_options.h"

namespace symprof::shape {

using Tensors = std::vector<at::Tensor>;

/// One parameter group as the functional forms of torch.optim take it: lists with an element for
/// each parameter. Lists of states that an optimizer does not have are empty; `step` is here for
/// the fused variants only, as the others keep it in host memory.
struct OptimizerTensors {
  Tensors parameters, gradients;
  Tensors momentum_buffer;             ///< SGD.
  Tensors step, exp_avg, exp_avg_sq;   ///< Adam; Lion has `exp_avg`.
  Tensors square_avg;                  ///< RMSprop.
  Tensors row_var, col_var, variance;  ///< Adafactor: the last for vectors, undefined elsewhere.
};

/// The groups in which foreach and fused steps run, in PyTorch's order
/// (`_group_tensors_by_device_and_dtype` of ATen/native/ForeachUtils.h).
std::vector<OptimizerTensors> by_dtype(const OptimizerTensors& tensors);

/// The tensor, or a view of the numbers that make up complex ones.
at::Tensor as_real(const at::Tensor& tensor);

/// `_view_as_real` of torch/optim/optimizer.py: a group of Adam's or RMSprop's lists.
void view_as_real(OptimizerTensors& group);

/// What GradScaler hands to a fused step, or nothing.
struct FusedScaling {
  std::optional<at::Tensor> grad_scale, found_inf;
};

/// A variant that an optimizer does not have is null.
struct OptimizerRule {
  Optimizer optimizer;
  /// Makes the state tensors as a first step would, for parameters that have gradients.
  void (*make_states)(OptimizerTensors&, OptimizerVariant);
  void (*single)(const OptimizerTensors&);
  void (*foreach)(const OptimizerTensors&) = nullptr;
  void (*fused)(const OptimizerTensors&, const FusedScaling&) = nullptr;
};

using OptimizerRules = std::span<const OptimizerRule>;
namespace sgd {
OptimizerRules rules();
}
namespace adam {
OptimizerRules rules();
}
namespace rmsprop {
OptimizerRules rules();
}
namespace adafactor {
OptimizerRules rules();
}
namespace lion {
OptimizerRules rules();
}
inline constexpr OptimizerRules (*optimizer_families[])() = {
    sgd::rules, adam::rules, rmsprop::rules, adafactor::rules, lion::rules};

/// A state tensor, made without a call: `state_like` as zeros_like makes it, with the strides of
/// `tensor` where that is dense; `state_of` as new_zeros.
at::Tensor state_like(const at::Tensor& tensor);
at::Tensor state_like(const at::Tensor& tensor, at::ScalarType dtype);
at::Tensor state_of(at::IntArrayRef sizes, at::ScalarType dtype);

}  // namespace symprof::shape

// torch.amp.GradScaler (torch/amp/grad_scaler.py), for one device.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {

/// The order of calls is that of a training loop: scale, unscale (if gradients are looked at before
/// the step), before_step, update.
class GradScaler {
 public:
  /// Makes the two scalars that a scaler keeps: the scale and the count of steps since it grew.
  /// On the device of MakeOn; a real scaler's still needs its value.
  GradScaler();

  void set_scale(double scale);

  /// The outputs times the scale.
  Tensors scale(const Tensors& outputs) const;
  /// `unscale_`: divides the gradients by the scale, and notes whether one is not finite. Throws
  /// Error for gradients in fp16, which PyTorch refuses.
  void unscale(const Tensors& gradients);
  /// `step` up to the call of the optimizer. A fused optimizer gets what is returned; for others
  /// the gradients are unscaled here, and nothing is returned.
  FusedScaling before_step(const Tensors& gradients, OptimizerVariant variant);
  /// Of real tensors, after before_step: the host waits and looks. Where it holds, `step` leaves
  /// out the call of an optimizer that is not fused.
  bool found_inf() const;
  /// `update`: the scale of the next step.
  void update();

 private:
  at::Tensor check_and_unscale(const Tensors& gradients, const at::Tensor& inverse_scale,
                               const at::Tensor& found_inf) const;
  void check_for_inf(const Tensors& gradients);

  at::Tensor scale_, growth_tracker_;
  at::Tensor found_inf_;  // From the check until the update.
  bool is_unscaled_ = false;
};

}  // namespace symprof::shape

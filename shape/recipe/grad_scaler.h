// torch.amp.GradScaler (torch/amp/grad_scaler.py), for one device.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {

/// Calls are in the order of a training loop: scale, unscale (if gradients are inspected before the
/// step), before_step, update.
class GradScaler {
 public:
  /// Creates the scaler's two scalars, the scale and the growth counter, on the device of MakeOn. A
  /// real scaler's scale must still be set.
  GradScaler();

  void set_scale(double scale);

  /// The outputs times the scale.
  Tensors scale(const Tensors& outputs) const;
  /// `unscale_`: divides the gradients by the scale, and records if one is not finite. Throws Error
  /// for fp16 gradients, which PyTorch refuses.
  void unscale(const Tensors& gradients);
  /// `step` up to the call of the optimizer. Returns the scaling for a fused optimizer; for others
  /// the gradients are unscaled here, and the result is empty.
  FusedScaling before_step(const Tensors& gradients, OptimizerVariant variant);
  /// For real tensors, after before_step: synchronizes with the device. If true, `step` skips an
  /// optimizer that is not fused.
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

// fp32 master weights of half-precision parameters, as in NVIDIA Apex's FP16_Optimizer and its O2
// (apex/fp16_utils/fp16util.py: prep_param_lists, model_grads_to_master_grads,
// master_params_to_model_params; fp16_optimizer.py passes fp32 parameters to the optimizer
// unchanged). Apex's fused copy kernels hold the same memory as these loops.
#pragma once

#include <ATen/core/Tensor.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {

class MasterWeights {
 public:
  /// Creates the masters without a call. Throws Error if no parameter is in half precision.
  explicit MasterWeights(const Tensors& parameters);

  /// The tensors that the optimizer updates: masters, and parameters without a master.
  const Tensors& updated() const { return updated_; }
  /// Copies the model's gradients into new fp32 gradients of the masters.
  void take_gradients() const;
  /// Copies the masters into the model.
  void give_to_model() const;

 private:
  Tensors model_, masters_;  // Pairs.
  Tensors updated_;
};

}  // namespace symprof::shape

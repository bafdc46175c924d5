// fp32 masters of parameters in half precision, as NVIDIA Apex's FP16_Optimizer and its O2 have
// them (apex/fp16_utils/fp16util.py: prep_param_lists, model_grads_to_master_grads,
// master_params_to_model_params; fp16_optimizer.py leaves fp32 parameters to the optimizer as they
// are). Apex's fused kernels for the copies hold the same memory as these loops.
#pragma once

#include <ATen/core/Tensor.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {

class MasterWeights {
 public:
  /// Makes the masters, without a call. Throws Error when no parameter is in half precision.
  explicit MasterWeights(const Tensors& parameters);

  /// What the optimizer updates: masters, and the parameters that have none.
  const Tensors& updated() const { return updated_; }
  /// Copies the gradients of the model into new fp32 ones of the masters.
  void take_gradients() const;
  /// Copies the masters into the model.
  void give_to_model() const;

 private:
  Tensors model_, masters_;  // Pairs.
  Tensors updated_;
};

}  // namespace symprof::shape

// One rank's shards of the parameters, which the optimizer updates under FSDP2: dimension 0 in
// equal parts, the last ones shorter or empty (torch/distributed/fsdp/_fully_shard/_fsdp_param.py,
// _init_sharded_param). Each lies in a block of the padded part's size.
#pragma once

#include <ATen/core/Tensor.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {

class ParameterShards {
 public:
  /// Makes the shards, without a call. Those for which `is_whole` says so are none: FSDP2 leaves
  /// the parameters alone. Throws Error for a parameter that has no dimension.
  ParameterShards(const Tensors& parameters, const std::vector<bool>& is_whole,
                  const ShardedUpdate& update);

  /// One for each parameter; the parameter itself where it is whole.
  const Tensors& all() const { return shards_; }
  /// Those of parameters that require a gradient.
  const Tensors& updated() const { return updated_; }
  /// Gives the shards gradients where the parameters have some, and takes those away.
  void take_gradients() const;

 private:
  Tensors parameters_, shards_, updated_;
};

}  // namespace symprof::shape

// One rank's shards of the parameters, which the optimizer updates under FSDP2: dimension 0 in
// equal parts, the last ones shorter or empty (torch/distributed/fsdp/_fully_shard/_fsdp_param.py,
// _init_sharded_param). Each shard is in a block of the padded part's size.
#pragma once

#include <ATen/core/Tensor.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {

class ParameterShards {
 public:
  /// Creates the shards without a call. Parameters with `is_whole` are not sharded: FSDP2 ignores
  /// them. Throws Error for a parameter without dimensions.
  ParameterShards(const Tensors& parameters, const std::vector<bool>& is_whole,
                  const ShardedUpdate& update);

  /// One per parameter; the parameter itself if it is whole.
  const Tensors& all() const { return shards_; }
  /// The shards of parameters that require a gradient.
  const Tensors& updated() const { return updated_; }
  /// Creates gradients of the shards for parameters with gradients, and removes the latter.
  void take_gradients() const;

 private:
  Tensors parameters_, shards_, updated_;
};

}  // namespace symprof::shape

#include "shape/recipe/sharded_update.h"

#include <algorithm>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"

namespace symprof::shape {
namespace {

TensorSpec contiguous_spec(DType dtype, std::vector<std::int64_t> sizes) {
  auto strides = contiguous_strides(sizes);
  return {dtype, std::move(sizes), std::move(strides), 0};
}

/// torch.chunk gives the first ranks ceil(rows / ranks) rows each.
at::Tensor shard_of(const at::Tensor& parameter, const ShardedUpdate& update) {
  if (parameter.dim() == 0)
    throw Error(SettingRef{"parallel"},
                "a parameter is a scalar, and FSDP2 shards dimension 0 of each.",
                "Give the scalar a dimension: fully_shard refuses it too.");
  const DType dtype = update.dtype.value_or(meta::dtype_of(parameter.scalar_type()));
  std::vector<std::int64_t> sizes = parameter.sizes().vec();
  const std::int64_t rows = sizes[0];
  sizes[0] = (rows + update.ranks - 1) / update.ranks;
  const at::Tensor padded = made_tensor(contiguous_spec(dtype, sizes));
  sizes[0] = std::clamp<std::int64_t>(rows - update.rank * sizes[0], 0, sizes[0]);
  at::Tensor shard = meta::make_fake_in(padded, contiguous_spec(dtype, std::move(sizes)));
  shard.set_requires_grad(parameter.requires_grad());
  return shard;
}

}  // namespace

ParameterShards::ParameterShards(const Tensors& parameters, const std::vector<bool>& is_whole,
                                 const ShardedUpdate& update)
    : parameters_(parameters) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    shards_.push_back(is_whole[i] ? parameters_[i] : shard_of(parameters_[i], update));
    if (parameters_[i].requires_grad()) updated_.push_back(shards_.back());
  }
}

void ParameterShards::take_gradients() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (shards_[i].is_same(parameters_[i]) || !parameters_[i].grad().defined()) continue;
    shards_[i].mutable_grad() = made_tensor(
        contiguous_spec(meta::dtype_of(shards_[i].scalar_type()), shards_[i].sizes().vec()));
    parameters_[i].mutable_grad().reset();
  }
}

}  // namespace symprof::shape

// Which engine of PyTorch runs a step on several ranks, and how.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof {

enum class ParallelEngine : std::uint8_t {
  ddp,     ///< torch.nn.parallel.DistributedDataParallel
  fsdp,    ///< torch.distributed.fsdp.fully_shard (FSDP2), HSDP with more than one replica.
  tensor,  ///< torch.distributed.tensor.parallel.parallelize_module.
};

/// `reshard_after_forward` of fully_shard. PyTorch's default is that all but the root do.
enum class Reshard : std::uint8_t { all_but_root, always, never, to_fewer_ranks };

struct ParallelOptions {
  std::string text;  ///< As it was given: "fsdp=8".
  ParallelEngine engine = ParallelEngine::ddp;
  std::int64_t replicas = 1;  ///< Ranks that hold the same: DDP's, or HSDP's first dimension.
  std::int64_t shards = 1;    ///< Ranks that hold a part each.
  std::int64_t tensor = 1;    ///< Ranks that have a share of each layer that is split.
  bool sequence = false;      ///< What lies between those layers is split by tokens.
  std::int64_t rank = 0;      ///< Among those of `shards`. The first holds the most.
  Reshard reshard = Reshard::all_but_root;
  std::int64_t reshard_ranks = 1;  ///< Where it is to_fewer_ranks: those that share a copy.
  /// FSDP2's MixedPrecisionPolicy. Empty: as the parameters, as the gradients.
  std::optional<DType> param_dtype, reduce_dtype;
  DType stored_dtype = DType::float32;  ///< Of the shards, where `param_dtype` is given.
  /// Paths of the modules that FSDP2 wraps, in any order; empty text is the whole model.
  std::vector<std::string> wrapped;
  /// DDP's gradient_as_bucket_view.
  bool gradient_as_bucket_view = false;
  /// DDP's bucket_cap_mb, in bytes; empty: PyTorch's default, 25 MiB with a first bucket of 1 MiB.
  std::optional<std::int64_t> bucket_cap_bytes;

  std::int64_t world() const { return replicas * shards * tensor; }
};

}  // namespace symprof

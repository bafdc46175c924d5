// The PyTorch engines that run a step on several ranks, and their options.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof {

/// The engine of the ranks with different samples.
enum class DataEngine : std::uint8_t {
  none,  ///< A single rank.
  ddp,   ///< torch.nn.parallel.DistributedDataParallel
  fsdp,  ///< torch.distributed.fsdp.fully_shard (FSDP2), HSDP with more than one replica;
         ///< replicate() of torch.distributed._composable with one shard.
};

/// `reshard_after_forward` of fully_shard. PyTorch's default is all but the root.
enum class Reshard : std::uint8_t { all_but_root, always, never, to_fewer_ranks };

/// Schedules of torch.distributed.pipelining.
enum class PipelineKind : std::uint8_t {
  gpipe,
  one_f_one_b,
  interleaved,
  looped_bfs,
  interleaved_zero_bubble,
  zbv_zero_bubble,
  dual_pipe_v,
};

struct PipelineOptions {
  std::int64_t ranks = 1;            ///< 1: no pipeline.
  std::int64_t stages_per_rank = 1;  ///< Stage s is on rank s % ranks.
  PipelineKind kind = PipelineKind::one_f_one_b;
  std::int64_t microbatches = 1;  ///< Per step. The graph has the batch of one microbatch.
  /// The rank; empty: the one with the most memory, determined by a Session.
  std::optional<std::int64_t> rank;
  /// Paths of the modules that form stages, in any order.
  std::vector<std::string> blocks;
  /// The pipelined module, whose outputs the last stage keeps until the next step; empty text is
  /// the whole model.
  std::string module;

  std::int64_t stages() const { return ranks * stages_per_rank; }
  bool has_stage(std::int64_t stage) const { return stage % ranks == rank.value_or(0); }
};

struct ParallelOptions {
  std::string text;  ///< The original text: "fsdp=8".
  DataEngine data = DataEngine::none;
  std::int64_t replicas =
      1;                    ///< Ranks with identical parameters: DDP's, or HSDP's first dimension.
  std::int64_t shards = 1;  ///< Ranks with one shard each.
  std::int64_t tensor = 1;  ///< Tensor-parallel ranks: each has a part of every split layer.
  /// Ranks with a part of the experts each: all ranks with different samples, or 1.
  std::int64_t expert = 1;
  PipelineOptions pipeline;
  /// Ranks of the file's own collectives, if the file does not give their number.
  std::int64_t recorded = 1;
  std::int64_t ranks_per_node = 8;
  bool sequence =
      false;  ///< Sequence parallelism: activations between those layers are split by tokens.
  bool loss = false;      ///< The logits and their cross entropy are split by vocabulary.
  std::int64_t rank = 0;  ///< Within `shards`. The first rank holds the most.
  Reshard reshard = Reshard::all_but_root;
  std::int64_t reshard_ranks = 1;  ///< For to_fewer_ranks: the number of ranks that share a copy.
  /// FSDP2's MixedPrecisionPolicy. Empty: the dtype of the parameters, of the gradients.
  std::optional<DType> param_dtype, reduce_dtype;
  DType stored_dtype = DType::float32;  ///< Dtype of the shards, if `param_dtype` is given.
  /// Paths of the modules that FSDP2 wraps, in any order; empty text is the whole model.
  std::vector<std::string> wrapped;
  /// DDP's gradient_as_bucket_view.
  bool gradient_as_bucket_view = false;
  /// DDP's bucket_cap_mb, in bytes; empty: PyTorch's default, 25 MiB with a first bucket of 1 MiB.
  std::optional<std::int64_t> bucket_cap_bytes;

  std::int64_t world() const { return replicas * shards * tensor * pipeline.ranks * recorded; }
};

}  // namespace symprof

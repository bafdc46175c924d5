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

/// What the ranks that see different samples have.
enum class DataEngine : std::uint8_t {
  none,  ///< There is one such rank.
  ddp,   ///< torch.nn.parallel.DistributedDataParallel
  fsdp,  ///< torch.distributed.fsdp.fully_shard (FSDP2), HSDP with more than one replica;
         ///< replicate() of torch.distributed._composable with one shard.
};

/// `reshard_after_forward` of fully_shard. PyTorch's default is that all but the root do.
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
  std::int64_t microbatches = 1;  ///< Of a step. The graph has the batch of one.
  /// Which rank; empty: the fullest, which a Session finds.
  std::optional<std::int64_t> rank;
  /// Paths of the modules that stages are made of, in any order.
  std::vector<std::string> blocks;
  /// The module that goes through the pipeline, of which the last stage keeps the outputs until the
  /// next step; empty text is the whole model.
  std::string module;

  std::int64_t stages() const { return ranks * stages_per_rank; }
  bool has_stage(std::int64_t stage) const { return stage % ranks == rank.value_or(0); }
};

struct ParallelOptions {
  std::string text;  ///< As it was given: "fsdp=8".
  DataEngine data = DataEngine::none;
  std::int64_t replicas = 1;  ///< Ranks that hold the same: DDP's, or HSDP's first dimension.
  std::int64_t shards = 1;    ///< Ranks that hold a part each.
  std::int64_t tensor = 1;    ///< Ranks that have a share of each layer that is split.
  /// Ranks that have a part of the experts each: all that see different samples, or 1.
  std::int64_t expert = 1;
  PipelineOptions pipeline;
  /// Ranks of the collectives that the file has itself, where it does not say how many.
  std::int64_t recorded = 1;
  std::int64_t ranks_per_node = 8;
  bool sequence = false;  ///< What lies between those layers is split by tokens.
  bool loss = false;      ///< The logits and their cross entropy are split by words.
  std::int64_t rank = 0;  ///< Among those of `shards`. The first holds the most.
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

  std::int64_t world() const { return replicas * shards * tensor * pipeline.ranks * recorded; }
};

}  // namespace symprof

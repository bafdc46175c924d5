// FSDP2's groups of parameters with what a rank has of each.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "profile/parallel/wrapped_groups.h"
#include "record/parallel_options.h"
#include "record/rank.h"
#include "record/recording.h"

namespace symprof::profile {

struct ShardedParameter {
  StorageId parameter = none, shard = none, gradient = none;
  StorageId accumulated = none;  ///< The gradient of earlier micro-batches, in reduce_dtype.
  std::int64_t numbers = 0;      ///< In the padded shard.
  std::int64_t own_numbers = 0;  ///< Of those, the parameter's.
};

/// A group and what it holds at a moment of the step.
struct ShardedGroup {
  ParameterGroup of;
  std::vector<ShardedParameter> parts;
  std::int64_t numbers = 0;             ///< In the padded shards.
  DType dtype = DType::float32;         ///< In which the model computes.
  DType stored_dtype = DType::float32;  ///< Of the shards.
  bool is_root = false;
  bool is_unsharded = false;
  std::size_t gather_index = 0;                ///< Its last all-gather, among the collectives.
  std::optional<StorageId> gathered;           ///< The output of an all-gather, not copied out.
  std::vector<StorageId> post_forward_shards;  ///< Where it reshards to fewer ranks.
  /// Its places in the order of ends of forward, of passes whose backward has not begun.
  std::vector<std::size_t> post_forward_indices;
};

/// In the order in which forward reaches them, the root first; gradients are those of `recording`.
/// `passes` and Error are those of parameter_groups.
std::vector<ShardedGroup> sharded_groups(const Recording& recording, const ParallelOptions& options,
                                         std::span<const CallRange> passes);

/// What the rank keeps between steps: `recording` has states and gradients of shards.
HeldByRank held_by_rank(const Recording& recording, const std::vector<ShardedGroup>& groups);

/// Whether `storage` is the gradient of a shard.
bool is_gradient_of_shard(const Recording& recording, const StorageRecord& storage);

}  // namespace symprof::profile

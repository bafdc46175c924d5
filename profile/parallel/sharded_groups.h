// FSDP2's parameter groups with a rank's shards.
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
  std::int64_t numbers = 0;      ///< Elements in the padded shard.
  std::int64_t own_numbers = 0;  ///< Of these, the parameter's own.
};

/// A group and its state during the step.
struct ShardedGroup {
  ParameterGroup of;
  std::vector<ShardedParameter> parts;
  std::int64_t numbers = 0;             ///< Elements in the padded shards.
  DType dtype = DType::float32;         ///< Compute dtype.
  DType stored_dtype = DType::float32;  ///< Dtype of the shards.
  bool is_root = false;
  bool is_unsharded = false;
  std::size_t gather_index = 0;       ///< Index of its last all-gather among the collectives.
  std::optional<StorageId> gathered;  ///< The output of an all-gather before copy-out.
  std::vector<StorageId> post_forward_shards;  ///< With resharding to fewer ranks.
  /// Its positions in the order of forward ends, for passes whose backward has not begun.
  std::vector<std::size_t> post_forward_indices;
};

/// Groups in forward order, the root first; gradients are those of `recording`. `passes` and Error
/// are those of parameter_groups.
std::vector<ShardedGroup> sharded_groups(const Recording& recording, const ParallelOptions& options,
                                         std::span<const CallRange> passes);

/// The state that the rank keeps between steps; `recording` has states and gradients of shards.
HeldByRank held_by_rank(const Recording& recording, const std::vector<ShardedGroup>& groups);

/// True if `storage` is the gradient of a shard.
bool is_gradient_of_shard(const Recording& recording, const StorageRecord& storage);

}  // namespace symprof::profile

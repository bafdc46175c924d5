// FSDP2's handling of a group's gradients after its backward (FSDPParamGroup.post_backward,
// foreach_reduce).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "profile/parallel/rank_recording.h"
#include "profile/parallel/sharded_groups.h"

namespace symprof::profile {

class GradientReduction {
 public:
  GradientReduction(RankRecording& rank, const ParallelOptions& options)
      : rank_(rank), options_(options) {}

  /// FSDPParam.accumulate_unsharded_grad_if_needed: adds the new gradients to those of earlier
  /// micro-batches. Before the parameters are freed.
  void accumulate(const ShardedGroup& group);
  /// After the parameters are freed: in the last micro-batch gradients are reduced, in others kept.
  void reduce(ShardedGroup& group);
  /// Keeps the gradients after the backward pass of one microbatch of a pipeline.
  void keep(ShardedGroup& group);
  /// Reduces the kept gradients at the end of a pipeline's schedule.
  void reduce_kept(ShardedGroup& group);
  /// When backward is over.
  void finish();
  /// By shard: the storage of its gradient.
  const std::map<StorageId, StorageId>& gradients() const { return gradients_of_; }

 private:
  void take_accumulated(ShardedParameter& part, const ShardedGroup& group);
  void keep_accumulated(ShardedGroup& group);
  void reduce_gradients(const ShardedGroup& group);
  void copy_in(const ShardedGroup& group, const std::vector<ShardedParameter>& reduced);
  StorageId reduce_scatter(const ShardedGroup& group, std::int64_t bytes);
  void reduce_replicas(const ShardedGroup& group, std::int64_t bytes);
  void take_gradients(const ShardedGroup& group, StorageId output, std::int64_t numbers);
  void drop_gradient(const ShardedParameter& part);
  StorageId add(std::int64_t bytes, CommStream stream, const ShardedGroup& group) {
    return rank_.add_storage(bytes, StorageKind::communication, stream, group.of.node);
  }
  DType dtype_of(const ShardedGroup& group) const {
    return options_.reduce_dtype.value_or(group.dtype);
  }

  RankRecording& rank_;
  const ParallelOptions& options_;
  bool is_kept_ = false;                ///< By keep().
  std::optional<StorageId> input_;      ///< Of the last reduce-scatter.
  std::vector<StorageId> all_reduced_;  ///< Under HSDP, where they are cast.
  std::map<StorageId, StorageId> gradients_of_;
};

}  // namespace symprof::profile

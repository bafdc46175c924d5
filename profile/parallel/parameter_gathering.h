// Unsharding and resharding of the parameters of FSDP2's groups (FSDPParamGroup.unshard,
// wait_for_unshard, reshard).
#pragma once

#include <optional>
#include <vector>

#include "base/device_spec.h"
#include "profile/parallel/rank_recording.h"
#include "profile/parallel/sharded_groups.h"

namespace symprof::profile {

class ParameterGathering {
 public:
  ParameterGathering(RankRecording& rank, const ParallelOptions& options, const DeviceSpec& device)
      : rank_(rank), options_(options), device_(device) {}

  /// Before a group's forward: gathers it unless unsharded, and copies it out.
  void before_forward(ShardedGroup& group);
  /// Reshards it if configured, and notes its position for the next backward pass.
  void after_forward(ShardedGroup& group);
  /// Before its backward, which also prefetches the previous group.
  void before_backward(ShardedGroup& group);
  void reshard(ShardedGroup& group);

 private:
  bool has_whole_shards() const;
  bool is_to_copy_out(const ShardedGroup& group) const;
  std::int64_t gathered_bytes(const ShardedGroup& group) const;
  bool reshards_after_forward(const ShardedGroup& group) const;
  StorageId add(std::int64_t bytes, CommStream stream, const ShardedGroup& group);
  void gather(ShardedGroup& group);
  std::vector<std::int64_t> part_bytes(const ShardedGroup& group,
                                       std::int64_t bytes_of_number) const;
  void copy_out(ShardedGroup& group);
  void keep_gathered(ShardedGroup& group);
  void cast_inputs(const ShardedGroup& group);
  void reshard_to_fewer(ShardedGroup& group);

  RankRecording& rank_;
  const ParallelOptions& options_;
  const DeviceSpec& device_;
  std::vector<ShardedGroup*> post_forward_order_;
  std::optional<StorageId> kept_gathered_;
  std::vector<StorageId> cast_inputs_;
};

}  // namespace symprof::profile

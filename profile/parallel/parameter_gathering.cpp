#include "profile/parallel/parameter_gathering.h"

#include <utility>

#include "profile/parallel/pointer_tables.h"

namespace symprof::profile {
namespace {

StorageRecord& storage_of(RankRecording& rank, StorageId id) {
  return rank.recording().storages[static_cast<std::size_t>(id)];
}

}  // namespace

/// replicate(): parameters are copies of those the rank keeps.
bool ParameterGathering::has_whole_shards() const { return options_.shards == 1; }

bool ParameterGathering::is_to_copy_out(const ShardedGroup& group) const {
  return group.gathered || (has_whole_shards() && !group.is_unsharded && !group.parts.empty());
}

std::int64_t ParameterGathering::gathered_bytes(const ShardedGroup& group) const {
  return group.numbers * options_.shards * element_bytes(group.dtype);
}

bool ParameterGathering::reshards_after_forward(const ShardedGroup& group) const {
  switch (options_.reshard) {
    case Reshard::all_but_root:
      return !group.is_root;
    case Reshard::never:
      return false;
    case Reshard::always:
    case Reshard::to_fewer_ranks:
      return true;
  }
  return true;
}

StorageId ParameterGathering::add(std::int64_t bytes, CommStream stream,
                                  const ShardedGroup& group) {
  return rank_.add_storage(bytes, StorageKind::communication, stream, group.of.node);
}

/// FSDPParamGroup.unshard: the cast of the shards is freed once copied into the output, which
/// contains the collective's input.
void ParameterGathering::gather(ShardedGroup& group) {
  if (group.is_unsharded || group.gathered || group.parts.empty() || has_whole_shards()) return;
  const bool is_back = !group.post_forward_shards.empty();
  const std::int64_t ranks = is_back ? options_.reshard_ranks : options_.shards;
  const std::int64_t bytes = gathered_bytes(group);
  rank_.add_collective("c10d::_allgather_base_", {.op = CollectiveOperator::all_gather,
                                                  .dimension = MeshDimension::shard,
                                                  .group_size = ranks,
                                                  .input_bytes = bytes / ranks,
                                                  .output_bytes = bytes,
                                                  .node = group.of.node,
                                                  .stream = CommStream::all_gather});
  group.gather_index = rank_.collectives().size() - 1;
  const bool is_cast = !is_back && group.stored_dtype != group.dtype;
  std::optional<StorageId> cast;
  if (is_cast) {
    cast = add(group.numbers * element_bytes(group.dtype), CommStream::all_gather_copy_in, group);
    rank_.take(*cast);
  }
  group.gathered = add(bytes, CommStream::all_gather_copy_in, group);
  rank_.take(*group.gathered);
  if (cast) rank_.give_back(*cast);
}

std::vector<std::int64_t> ParameterGathering::part_bytes(const ShardedGroup& group,
                                                         std::int64_t bytes_of_number) const {
  std::vector<std::int64_t> bytes;
  bytes.reserve(group.parts.size());
  for (const ShardedParameter& part : group.parts) bytes.push_back(part.numbers * bytes_of_number);
  return bytes;
}

void ParameterGathering::copy_out(ShardedGroup& group) {
  const bool is_back = !group.post_forward_shards.empty();
  const std::int64_t ranks = is_back ? options_.reshard_ranks : options_.shards;
  const CallId call =
      rank_.add_call("fsdp::split_with_sizes_copy", group.of.node, gathered_bytes(group));
  if (group.gathered) rank_.collectives()[group.gather_index].needed_by = call;
  for (const ShardedParameter& part : group.parts) rank_.take(part.parameter);
  group.is_unsharded = true;
  if (!group.gathered) return;
  const std::int64_t numbers_of_ranks = options_.shards / ranks;
  rank_.take_briefly(
      copy_out_table_bytes(part_bytes(group, numbers_of_ranks * element_bytes(group.dtype)), ranks,
                           device_),
      CommStream::compute, group.of.node);
  for (const StorageId shard : std::exchange(group.post_forward_shards, {})) rank_.give_back(shard);
}

/// In forward, an all-gather's output is kept until the next one is copied out.
void ParameterGathering::keep_gathered(ShardedGroup& group) {
  if (kept_gathered_) rank_.give_back(*kept_gathered_);
  kept_gathered_ = std::exchange(group.gathered, std::nullopt);
}

void ParameterGathering::before_forward(ShardedGroup& group) {
  if (group.is_root) cast_inputs(group);
  gather(group);
  if (!is_to_copy_out(group)) return;
  copy_out(group);
  keep_gathered(group);
}

/// MixedPrecisionPolicy.cast_forward_inputs: casts the root's inputs that have another dtype.
void ParameterGathering::cast_inputs(const ShardedGroup& group) {
  if (!options_.param_dtype) return;
  const Recording& source = rank_.source();
  for (std::size_t i = 0; i < source.nodes.size(); ++i) {
    if (source.nodes[i].kind != NodeKind::input) continue;
    for (const TensorRecord& output : source.nodes[i].outputs) {
      if (output.spec == none || output.storage == none) continue;
      const TensorSpec& spec = source.specs[static_cast<std::size_t>(output.spec)];
      if (spec.dtype != *options_.param_dtype) continue;
      if (cast_inputs_.empty())
        rank_.add_call("fsdp::cast", group.of.node, storage_of(rank_, output.storage).bytes);
      const StorageId cast =
          add(storage_of(rank_, output.storage).bytes, CommStream::compute, group);
      storage_of(rank_, output.storage).bytes = spec.numel() * element_bytes(options_.stored_dtype);
      rank_.take(cast);
      cast_inputs_.push_back(cast);
    }
  }
}

void ParameterGathering::after_forward(ShardedGroup& group) {
  if (group.is_unsharded && reshards_after_forward(group)) {
    if (options_.reshard == Reshard::to_fewer_ranks)
      reshard_to_fewer(group);
    else
      reshard(group);
  }
  if (!group.parts.empty()) {
    group.post_forward_indices.push_back(post_forward_order_.size());
    post_forward_order_.push_back(&group);
  }
  if (!group.is_root) return;
  if (kept_gathered_) rank_.give_back(*std::exchange(kept_gathered_, std::nullopt));
  for (const StorageId cast : std::exchange(cast_inputs_, {})) rank_.give_back(cast);
}

void ParameterGathering::reshard(ShardedGroup& group) {
  rank_.add_call("fsdp::reshard", group.of.node);
  for (const ShardedParameter& part : group.parts) rank_.give_back(part.parameter);
  group.is_unsharded = false;
}

/// FSDPParam.to_sharded_post_forward: clones each parameter's part.
void ParameterGathering::reshard_to_fewer(ShardedGroup& group) {
  rank_.add_call("fsdp::reshard", group.of.node);
  for (const ShardedParameter& part : group.parts) {
    const std::int64_t bytes = storage_of(rank_, part.parameter).bytes / options_.reshard_ranks;
    group.post_forward_shards.push_back(add(bytes, CommStream::compute, group));
    rank_.take(group.post_forward_shards.back());
    rank_.give_back(part.parameter);
  }
  group.is_unsharded = false;
}

void ParameterGathering::before_backward(ShardedGroup& group) {
  gather(group);
  if (is_to_copy_out(group)) {
    copy_out(group);
    if (group.gathered) rank_.give_back(*std::exchange(group.gathered, std::nullopt));
  }
  if (group.post_forward_indices.empty()) return;
  const std::size_t place = group.post_forward_indices.back();
  group.post_forward_indices.pop_back();
  if (place > 0) gather(*post_forward_order_[place - 1]);
}

}  // namespace symprof::profile

#include "profile/parallel/fully_sharded.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "profile/parallel/gradient_reduction.h"
#include "profile/parallel/partial_gradients.h"
#include "profile/parallel/pointer_tables.h"
#include "profile/parallel/rank_recording.h"
#include "profile/parallel/sharded_groups.h"

namespace symprof::profile {
namespace {

class FullySharded {
 public:
  FullySharded(Recording recording, const ParallelOptions& options, const DeviceSpec& device)
      : options_(options),
        device_(device),
        rank_(std::move(recording), options.tensor),
        groups_(sharded_groups(rank_.source(), options)),
        reduction_(rank_, options),
        partial_(rank_, options.tensor) {
    find_gradients();
    make_parameters_come_and_go();
    make_padded_shards();
    rank_.leave_out([this](const MemoryEvent& event) {
      return is_left_out_[static_cast<std::size_t>(event.storage)] ||
             (event.kind == EventKind::free &&
              is_gradient_[static_cast<std::size_t>(event.storage)]);
    });
  }

  Recording run() {
    rank_.copy_beginning();
    const auto calls = static_cast<CallId>(rank_.source().calls.size());
    while (rank_.next() < calls) {
      before_call(rank_.next());
      const CallId call = rank_.next();
      rank_.copy_call();
      after_call(call);
    }
    if (!backward_is_over_) end_backward();
    give_gradients_to_update();
    return rank_.finish(held_by_rank(rank_.source(), groups_));
  }

 private:
  Recording& recording() { return rank_.recording(); }
  StorageRecord& storage(StorageId id) {
    return recording().storages[static_cast<std::size_t>(id)];
  }

  /// Whole gradients come as they come, and go when they are reduced. The shards' are parts of
  /// what a reduce-scatter gives.
  void find_gradients() {
    is_gradient_.resize(recording().storages.size());
    is_left_out_.resize(recording().storages.size());
    for (std::size_t i = 0; i < recording().storages.size(); ++i) {
      StorageRecord& record = recording().storages[i];
      if (record.kind != StorageKind::gradient) continue;
      is_left_out_[i] = is_gradient_of_shard(rank_.source(), record);
      is_gradient_[i] = !is_left_out_[i];
      record.kind = StorageKind::activation;
      if (is_left_out_[i]) record.bytes = 0;
    }
  }

  /// A parameter is whole between its copy-out and the end of its use; what stays is the shard.
  void make_parameters_come_and_go() {
    for (const ShardedGroup& group : groups_)
      for (const ShardedParameter& part : group.parts) {
        is_left_out_[static_cast<std::size_t>(part.parameter)] = true;
        StorageRecord& whole = storage(part.parameter);
        whole.kind = StorageKind::communication;
        whole.saved = false;
        whole.node = group.of.node;
        whole.bytes = part.numbers * options_.shards * element_bytes(group.dtype);
        for (NodeRecord& node : recording().nodes)
          std::ranges::replace(node.parameters, part.parameter, part.shard);
      }
  }

  /// A model that was made on the meta device has the rank's own rows first (`to_empty`); what has
  /// fewer than the padded shard is copied into one before the first forward pass
  /// (FSDPParam.reset_sharded_param).
  void make_padded_shards() {
    std::vector<std::pair<StorageId, std::int64_t>> shards;  // With their own bytes.
    for (const ShardedGroup& group : groups_)
      for (const ShardedParameter& part : group.parts)
        shards.emplace_back(part.shard, part.own_numbers * element_bytes(group.stored_dtype));
    std::ranges::sort(shards);
    std::vector<EngineEvent>& events = rank_.engine_events();
    for (const auto& [shard, bytes] : shards) {
      const StorageRecord record = storage(shard);
      if (bytes == record.bytes) {
        events.push_back({shard, /*is_taken=*/true, /*step=*/-1});
        continue;
      }
      const StorageId own =
          rank_.add_storage(bytes, StorageKind::communication, CommStream::compute, record.node);
      events.push_back({own, true, -1});
    }
    for (std::size_t i = 0, own = rank_.source().storages.size(); i < shards.size(); ++i) {
      if (shards[i].second == storage(shards[i].first).bytes) continue;
      events.push_back({shards[i].first, true, 0});
      events.push_back({static_cast<StorageId>(own++), false, 0});
    }
  }

  void before_call(CallId call) {
    const CallRecord& next = rank_.source().calls[static_cast<std::size_t>(call)];
    for (ShardedGroup& group : groups_) {
      if (group.of.forward.first == call) before_forward(group);
      if (group.of.backward.first == call) before_backward(group);
    }
    if (next.phase == Phase::optimizer && !backward_is_over_) end_backward();
  }

  void after_call(CallId call) {
    for (std::size_t i = groups_.size(); i-- > 0;) {
      ShardedGroup& group = groups_[i];
      if (group.of.forward.last == call) after_forward(group);
      if (group.of.backward.last == call && !group.is_root) after_backward(group);
    }
  }

  std::int64_t gathered_bytes(const ShardedGroup& group) const {
    return group.numbers * options_.shards * element_bytes(group.dtype);
  }

  bool reshards_after_forward(const ShardedGroup& group) const {
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

  StorageId add(std::int64_t bytes, CommStream stream, const ShardedGroup& group) {
    return rank_.add_storage(bytes, StorageKind::communication, stream, group.of.node);
  }

  /// FSDPParamGroup.unshard: the cast of the shards goes as soon as it is in the output, of which
  /// the collective's input is a part.
  void gather(ShardedGroup& group) {
    if (group.is_unsharded || group.gathered || group.parts.empty()) return;
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

  std::vector<std::int64_t> part_bytes(const ShardedGroup& group,
                                       std::int64_t bytes_of_number) const {
    std::vector<std::int64_t> bytes;
    bytes.reserve(group.parts.size());
    for (const ShardedParameter& part : group.parts)
      bytes.push_back(part.numbers * bytes_of_number);
    return bytes;
  }

  void copy_out(ShardedGroup& group) {
    const bool is_back = !group.post_forward_shards.empty();
    const std::int64_t ranks = is_back ? options_.reshard_ranks : options_.shards;
    const CallId call =
        rank_.add_call("fsdp::split_with_sizes_copy", group.of.node, gathered_bytes(group));
    rank_.collectives()[group.gather_index].needed_by = call;
    for (const ShardedParameter& part : group.parts) rank_.take(part.parameter);
    const std::int64_t numbers_of_ranks = options_.shards / ranks;
    rank_.take_briefly(
        copy_out_table_bytes(part_bytes(group, numbers_of_ranks * element_bytes(group.dtype)),
                             ranks, device_),
        CommStream::compute, group.of.node);
    for (const StorageId shard : std::exchange(group.post_forward_shards, {}))
      rank_.give_back(shard);
    group.is_unsharded = true;
  }

  /// In forward an all-gather's output lives until the next one is copied out.
  void keep_gathered(ShardedGroup& group) {
    if (kept_gathered_) rank_.give_back(*kept_gathered_);
    kept_gathered_ = std::exchange(group.gathered, std::nullopt);
  }

  void before_forward(ShardedGroup& group) {
    if (group.is_root) cast_inputs(group);
    gather(group);
    if (!group.gathered) return;
    copy_out(group);
    keep_gathered(group);
  }

  /// MixedPrecisionPolicy.cast_forward_inputs: what the root is given in another dtype.
  void cast_inputs(const ShardedGroup& group) {
    if (!options_.param_dtype) return;
    const Recording& source = rank_.source();
    for (std::size_t i = 0; i < source.nodes.size(); ++i) {
      if (source.nodes[i].kind != NodeKind::input) continue;
      for (const TensorRecord& output : source.nodes[i].outputs) {
        if (output.spec == none || output.storage == none) continue;
        const TensorSpec& spec = source.specs[static_cast<std::size_t>(output.spec)];
        if (spec.dtype != *options_.param_dtype) continue;
        if (cast_inputs_.empty())
          rank_.add_call("fsdp::cast", group.of.node, storage(output.storage).bytes);
        const StorageId cast = add(storage(output.storage).bytes, CommStream::compute, group);
        storage(output.storage).bytes = spec.numel() * element_bytes(options_.stored_dtype);
        rank_.take(cast);
        cast_inputs_.push_back(cast);
      }
    }
  }

  void after_forward(ShardedGroup& group) {
    if (group.is_unsharded && reshards_after_forward(group)) {
      if (options_.reshard == Reshard::to_fewer_ranks)
        reshard_to_fewer(group);
      else
        reshard(group);
    }
    if (!group.parts.empty()) {
      group.post_forward_index = post_forward_order_.size();
      post_forward_order_.push_back(&group);
    }
    if (!group.is_root) return;
    if (kept_gathered_) rank_.give_back(*std::exchange(kept_gathered_, std::nullopt));
    for (const StorageId cast : std::exchange(cast_inputs_, {})) rank_.give_back(cast);
  }

  void reshard(ShardedGroup& group) {
    rank_.add_call("fsdp::reshard", group.of.node);
    for (const ShardedParameter& part : group.parts) rank_.give_back(part.parameter);
    group.is_unsharded = false;
  }

  /// FSDPParam.to_sharded_post_forward: a clone of each parameter's part.
  void reshard_to_fewer(ShardedGroup& group) {
    rank_.add_call("fsdp::reshard", group.of.node);
    for (const ShardedParameter& part : group.parts) {
      const std::int64_t bytes = storage(part.parameter).bytes / options_.reshard_ranks;
      group.post_forward_shards.push_back(add(bytes, CommStream::compute, group));
      rank_.take(group.post_forward_shards.back());
      rank_.give_back(part.parameter);
    }
    group.is_unsharded = false;
  }

  void before_backward(ShardedGroup& group) {
    gather(group);
    if (group.gathered) {
      copy_out(group);
      rank_.give_back(*std::exchange(group.gathered, std::nullopt));
    }
    if (group.post_forward_index.value_or(0) > 0)
      gather(*post_forward_order_[*group.post_forward_index - 1]);
  }

  void after_backward(ShardedGroup& group) {
    reduction_.accumulate(group);
    sum_partial(group);
    if (group.is_unsharded) reshard(group);
    reduction_.reduce(group);
  }

  /// FSDPParam.unsharded_grad_data: a DTensor becomes as whole as its parameter is.
  void sum_partial(ShardedGroup& group) {
    for (ShardedParameter& part : group.parts) {
      if (!partial_.contains(part.gradient)) continue;
      const std::int64_t bytes = storage(part.gradient).bytes;
      partial_.sum(bytes, group.of.node);
      const StorageId sum = add(bytes, CommStream::compute, group);
      rank_.take(sum);
      rank_.give_back(part.gradient);
      part.gradient = sum;
    }
  }

  /// The final callback of the root: its own group waits for it.
  void end_backward() {
    backward_is_over_ = true;
    if (groups_.empty()) return;
    if (!groups_.front().of.backward.is_empty()) after_backward(groups_.front());
    reduction_.finish();
  }

  void give_gradients_to_update() {
    const Recording& source = rank_.source();
    for (CallRecord& call : recording().calls)
      for (TensorRecord& input : call.inputs) {
        if (input.storage == none || static_cast<std::size_t>(input.storage) >= is_left_out_.size())
          continue;
        if (!is_left_out_[static_cast<std::size_t>(input.storage)]) continue;
        const StorageId shard = source.storages[static_cast<std::size_t>(input.storage)].parameter;
        if (const auto found = reduction_.gradients().find(shard);
            found != reduction_.gradients().end())
          input.storage = found->second;
      }
  }

  const ParallelOptions& options_;
  const DeviceSpec& device_;
  RankRecording rank_;
  std::vector<ShardedGroup> groups_;
  std::vector<bool> is_gradient_, is_left_out_;  // By storage of the source.
  std::vector<ShardedGroup*> post_forward_order_;
  GradientReduction reduction_;
  PartialGradients partial_;
  std::optional<StorageId> kept_gathered_;
  std::vector<StorageId> cast_inputs_;
  bool backward_is_over_ = false;
};

}  // namespace

Recording fully_sharded_step(Recording recording, const ParallelOptions& options,
                             const DeviceSpec& device) {
  return FullySharded(std::move(recording), options, device).run();
}

}  // namespace symprof::profile

#include "profile/parallel/fully_sharded.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "profile/parallel/expert_parameters.h"
#include "profile/parallel/gradient_reduction.h"
#include "profile/parallel/parameter_gathering.h"
#include "profile/parallel/partial_gradients.h"
#include "profile/parallel/rank_recording.h"
#include "profile/parallel/sharded_groups.h"

namespace symprof::profile {
namespace {

class FullySharded {
 public:
  FullySharded(Recording recording, const ParallelOptions& options, const DeviceSpec& device,
               std::span<const CallRange> passes)
      : options_(options),
        passes_(passes),
        rank_(std::move(recording), functional_group(options)),
        groups_(sharded_groups(rank_.source(), options, passes)),
        gathering_(rank_, options, device),
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

  /// Unsharded gradients are allocated by backward and freed after their reduction; a pipeline's
  /// microbatches accumulate into them unless they are cast. Gradients of shards are views of a
  /// reduce-scatter's output.
  void find_gradients() {
    is_gradient_.resize(recording().storages.size());
    is_left_out_.resize(recording().storages.size());
    const std::set<StorageId> experts = expert_parameters(rank_.source());
    for (std::size_t i = 0; i < recording().storages.size(); ++i) {
      StorageRecord& record = recording().storages[i];
      if (record.kind != StorageKind::gradient || experts.contains(record.parameter)) continue;
      is_left_out_[i] = is_gradient_of_shard(rank_.source(), record);
      is_gradient_[i] = !is_left_out_[i];
      if (!adds_in_place()) record.kind = StorageKind::activation;
      if (is_left_out_[i]) record.bytes = 0;
    }
  }

  /// A parameter is unsharded from its copy-out to its reshard; the shard persists.
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

  /// A model built on the meta device first has the rank's own rows (`to_empty`); shards smaller
  /// than the padded shard are copied into one before the first forward pass
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

  bool adds_in_place() const {
    const DType computed = options_.param_dtype.value_or(options_.stored_dtype);
    return is_pipeline() && options_.reduce_dtype.value_or(computed) == computed;
  }

  /// True if the pipeline schedule reduces gradients of several passes.
  bool is_pipeline() const { return !passes_.empty(); }

  void before_call(CallId call) {
    if (is_pipeline() && call > passes_.back().last && !backward_is_over_) end_schedule();
    const CallRecord& next = rank_.source().calls[static_cast<std::size_t>(call)];
    for (ShardedGroup& group : groups_) {
      if (begins_with(group.of.forward, call)) gathering_.before_forward(group);
      if (begins_with(group.of.backward, call)) gathering_.before_backward(group);
    }
    if (next.phase == Phase::optimizer && !backward_is_over_) end_backward();
  }

  void after_call(CallId call) {
    for (std::size_t i = groups_.size(); i-- > 0;) {
      ShardedGroup& group = groups_[i];
      if (ends_with(group.of.forward, call)) gathering_.after_forward(group);
      if (!ends_with(group.of.backward, call)) continue;
      if (is_pipeline())
        reduction_.keep(group);
      else if (!group.is_root)
        after_backward(group);
    }
  }

  /// perform_reduce_grad of torch/distributed/pipelining/stage.py: post_backward of all groups, in
  /// the order of modules.
  void end_schedule() {
    backward_is_over_ = true;
    for (ShardedGroup& group : groups_) {
      sum_partial(group);
      if (group.is_unsharded) gathering_.reshard(group);
      reduction_.reduce_kept(group);
    }
    reduction_.finish();
  }

  void after_backward(ShardedGroup& group) {
    reduction_.accumulate(group);
    sum_partial(group);
    if (group.is_unsharded) gathering_.reshard(group);
    reduction_.reduce(group);
  }

  /// FSDPParam.unsharded_grad_data: sums a partial DTensor to the placement of its parameter.
  void sum_partial(ShardedGroup& group) {
    for (ShardedParameter& part : group.parts) {
      if (!partial_.contains(part.gradient)) continue;
      StorageId& held = part.accumulated == none ? part.gradient : part.accumulated;
      const std::int64_t bytes = storage(held).bytes;
      partial_.sum(bytes, group.of.node);
      const StorageId sum =
          rank_.add_storage(bytes, StorageKind::communication, CommStream::compute, group.of.node);
      rank_.take(sum);
      rank_.give_back(held);
      held = sum;
    }
  }

  /// The final callback of the root: its own group waits for it.
  void end_backward() {
    backward_is_over_ = true;
    if (groups_.empty()) return;
    if (!groups_.front().of.backward.empty()) after_backward(groups_.front());
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
  std::span<const CallRange> passes_;
  RankRecording rank_;
  std::vector<ShardedGroup> groups_;
  std::vector<bool> is_gradient_, is_left_out_;  // By storage of the source.
  ParameterGathering gathering_;
  GradientReduction reduction_;
  PartialGradients partial_;
  bool backward_is_over_ = false;
};

}  // namespace

Recording fully_sharded_step(Recording recording, const ParallelOptions& options,
                             const DeviceSpec& device, std::span<const CallRange> passes) {
  return FullySharded(std::move(recording), options, device, passes).run();
}

}  // namespace symprof::profile

#include "profile/parallel/pipeline_step.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "profile/parallel/partial_gradients.h"
#include "profile/parallel/rank_recording.h"
#include "profile/parallel/schedules.h"
#include "profile/parallel/sharded_groups.h"
#include "profile/parallel/stage_parts.h"

namespace symprof::profile {
namespace {

using Message = PipelineWork::Message;

Pipeline pipeline_of(const PipelineOptions& options) {
  return {options.kind, static_cast<int>(options.ranks), static_cast<int>(options.stages_per_rank),
          static_cast<int>(options.microbatches)};
}

/// By stage: the most microbatches in flight (forward done, backward not).
std::vector<int> most_in_flight(const std::vector<PipelineWork>& works, int stages) {
  std::vector<int> now(static_cast<std::size_t>(stages)), most = now;
  for (const PipelineWork& work : works) {
    if (work.message != Message::none) continue;
    const auto stage = static_cast<std::size_t>(work.action.stage);
    now[stage] += work.action.computation == Computation::forward ? 1 : -1;
    most[stage] = std::max(most[stage], now[stage]);
  }
  return most;
}

class PipelineStep {
 public:
  PipelineStep(Recording recording, const ParallelOptions& options)
      : options_(options.pipeline),
        pipeline_(pipeline_of(options_)),
        own_rank_(static_cast<std::size_t>(options_.rank.value_or(0))),
        works_(work_of(pipeline_)[own_rank_]),
        in_flight_(most_in_flight(works_, pipeline_.stages())),
        tensor_ranks_(options.tensor),
        rank_(std::move(recording), functional_group(options)),
        parts_(stage_parts(rank_.source(), options_)) {
    multiply_inputs();
    name_blocks();
    make_buffers();
    rank_.leave_out([this](const MemoryEvent& event) { return is_left_out(event); });
  }

  Recording run() {
    rank_.copy_beginning();
    drop_outputs();
    for (const PipelineWork& work : works_) {
      if (work.message == Message::none)
        compute(work.action);
      else
        send_or_receive(work);
    }
    end_of_schedule();
    update();
    Recording finished = rank_.finish(held_as_recorded(rank_.source()));
    finished.rank->passes = std::move(passes_);
    return finished;
  }

 private:
  StorageRecord& storage(StorageId id) {
    return rank_.recording().storages[static_cast<std::size_t>(id)];
  }
  const StagePart& part(int stage) const {
    return parts_.of_stage[static_cast<std::size_t>(stage)];
  }
  StorageId named(StorageId id, int microbatch) const {
    return names_[static_cast<std::size_t>(microbatch)][static_cast<std::size_t>(id)];
  }

  /// The batch is split into microbatches (torch.tensor_split).
  void multiply_inputs() {
    for (StorageRecord& record : rank_.recording().storages)
      if (record.kind == StorageKind::input) record.bytes *= options_.microbatches;
  }

  /// A microbatch reuses the blocks of one whose backward is done; there are as many sets as
  /// microbatches in flight. Sent, received and kept tensors are separate for each microbatch.
  void name_blocks() {
    const std::size_t count = rank_.source().storages.size();
    for (const TensorRecord& output : parts_.outputs)
      storage(output.storage).kind = StorageKind::communication;
    for (int microbatch = 0; microbatch < pipeline_.microbatches; ++microbatch) {
      std::vector<StorageId>& names = names_.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i)
        names[i] = name_of_block(static_cast<StorageId>(i), microbatch);
    }
  }

  StorageId name_of_block(StorageId id, int microbatch) {
    const auto index = static_cast<std::size_t>(id);
    if (microbatch == 0 || !parts_.is_of_microbatch[index]) return id;
    const std::int32_t stage = parts_.ends_in_stage[index];
    const int slots =
        stage == none ? pipeline_.microbatches : in_flight_[static_cast<std::size_t>(stage)];
    if (microbatch >= slots) return named(id, microbatch % slots);
    StorageRecord copy = storage(id);
    copy.allocated_by = none;
    rank_.recording().storages.push_back(copy);
    return static_cast<StorageId>(rank_.recording().storages.size()) - 1;
  }

  /// _RecvInfo: a persistent buffer per microbatch.
  void make_buffers() {
    std::vector<EngineEvent>& events = rank_.engine_events();
    const auto add = [&](StorageId id, int microbatch) {
      const StorageId buffer = named(id, microbatch);
      storage(buffer).kind = StorageKind::communication;
      events.push_back({buffer, /*is_taken=*/true, /*step=*/0});
    };
    for (const StagePart& one : parts_.of_stage)
      for (int microbatch = 0; microbatch < pipeline_.microbatches; ++microbatch)
        for (const StageMessage& message : one.received) add(message.storage, microbatch);
    for (const StagePart& one : parts_.of_stage)
      for (int microbatch = 0; microbatch < pipeline_.microbatches; ++microbatch)
        for (const StageMessage& message : one.sent)
          if (message.gradient != none) add(message.gradient, microbatch);
  }

  bool is_left_out(const MemoryEvent& event) const {
    const auto id = static_cast<std::size_t>(event.storage);
    return event.kind == EventKind::free && parts_.is_of_microbatch[id] && !parts_.has_own_end[id];
  }

  /// clear_runtime_states: the last stage's outputs are kept until the next step.
  void drop_outputs() {
    if (parts_.outputs.empty()) return;
    rank_.add_call("pipeline::clear_runtime_states", rank_.source().calls.front().node);
    for (int microbatch = 0; microbatch < pipeline_.microbatches; ++microbatch)
      for (const TensorRecord& output : parts_.outputs)
        rank_.give_back(named(output.storage, microbatch));
  }

  void compute(const PipelineAction& action) {
    const bool is_forward = action.computation == Computation::forward;
    const StagePart& own = part(action.stage);
    rank_.rename(names_[static_cast<std::size_t>(action.microbatch)]);
    const CallId before = rank_.last_call();
    for (const CallId call : is_forward ? own.forward : own.backward) {
      rank_.go_to(call);
      rank_.copy_call();
    }
    passes_.push_back({action.stage, !is_forward, before + 1, rank_.last_call()});
    for (const StorageId id : is_forward ? own.ends_with_forward : own.ends_with_backward)
      rank_.give_back(rank_.named(id));
    rank_.rename({});
    if (!is_forward) after_backward(own, action.microbatch);
  }

  /// The backward of the stage that frees a microbatch's output; none: at the schedule's end.
  /// PyTorch's Work objects keep sent tensors alive. ScheduleGPipe and multi-stage schedules keep
  /// all of them; Schedule1F1B keeps the last one sent before the first backward until no forward
  /// is left (`send_work`), and, through its variables, the output of the last microbatch.
  int release_of(int microbatch) const {
    const int last = pipeline_.microbatches - 1;
    if (pipeline_.kind != PipelineKind::one_f_one_b || microbatch == last) return none;
    const int first =
        std::min(pipeline_.microbatches, pipeline_.ranks - static_cast<int>(own_rank_));
    return microbatch == first - 2 ? std::max(microbatch, last + 1 - first) : microbatch;
  }

  void after_backward(const StagePart& own, int microbatch) {
    for (const StageMessage& message : own.sent)
      for (int sent = 0; sent <= microbatch; ++sent)
        if (release_of(sent) == microbatch) rank_.give_back(named(message.storage, sent));
    if (pipeline_.kind != PipelineKind::one_f_one_b || microbatch == 0) return;
    // `bwd_sends` has the gradients of one microbatch.
    for (const StorageId id : own.input_gradients) rank_.give_back(named(id, microbatch - 1));
  }

  /// Frees tensors that are held until the schedule's end.
  void give_back_held() {
    const int last = pipeline_.microbatches - 1;
    for (const StagePart& own : parts_.of_stage)
      for (int microbatch = 0; microbatch <= last; ++microbatch) {
        for (const StageMessage& message : own.sent)
          if (release_of(microbatch) == none) rank_.give_back(named(message.storage, microbatch));
        for (const StorageId id : own.input_gradients)
          if (pipeline_.kind != PipelineKind::one_f_one_b || microbatch == last)
            rank_.give_back(named(id, microbatch));
      }
  }

  void send_or_receive(const PipelineWork& work) {
    const bool is_send =
        work.message == Message::send_forward || work.message == Message::send_backward;
    const bool is_forward =
        work.message == Message::send_forward || work.message == Message::receive_forward;
    const StagePart& own = part(work.action.stage);
    // Activations are sent to the rank that gradients come from.
    for (const StageMessage& message : is_send == is_forward ? own.sent : own.received) {
      if (!is_forward && !message.has_gradient) continue;
      rank_.add_collective(is_send ? "c10d::send" : "c10d::recv_",
                           {.op = is_send ? CollectiveOperator::send : CollectiveOperator::receive,
                            .dimension = MeshDimension::pipeline,
                            .group_size = 2,
                            .input_bytes = is_send ? message.bytes : 0,
                            .output_bytes = is_send ? 0 : message.bytes,
                            .node = message.node});
      Collective& added = rank_.collectives().back();
      if (!is_send) added.needed_by = added.call + 1;
    }
  }

  /// scale_grads: gradients are sums over the microbatches. The update reads those of shards.
  void divide_gradients() {
    const Recording& source = rank_.source();
    const bool has_shards = std::ranges::any_of(source.storages, [&](const StorageRecord& record) {
      return is_gradient_of_shard(source, record);
    });
    std::set<StorageId> divided;
    for (const CallRecord& call : source.calls) {
      if (has_shards ? call.phase != Phase::optimizer : !is_in_backward(call.phase)) continue;
      for (const TensorRecord& tensor : has_shards ? call.inputs : call.outputs) {
        if (tensor.storage == none) continue;
        const StorageRecord& record = source.storages[static_cast<std::size_t>(tensor.storage)];
        const bool is_own = has_shards ? is_gradient_of_shard(source, record)
                                       : record.kind == StorageKind::gradient;
        if (is_own && divided.insert(tensor.storage).second) divide(tensor, call.node);
      }
    }
  }

  void divide(const TensorRecord& gradient, NodeId node) {
    rank_.add_call(scales_gradients, node);
    CallRecord& added = rank_.recording().calls.back();
    added.phase = Phase::backward;
    added.integers.clear();
    added.inputs = added.outputs = {gradient};
    added.input_positions = {0};
  }

  void end_of_schedule() {
    divide_gradients();
    give_back_held();
    // merge_chunks: outputs of all microbatches are concatenated.
    for (const TensorRecord& output : parts_.outputs) {
      const TensorSpec& spec = rank_.source().specs[static_cast<std::size_t>(output.spec)];
      if (spec.sizes.empty()) continue;  // torch.cat refuses scalars: not merged.
      const NodeId node = rank_.source().storages[static_cast<std::size_t>(output.storage)].node;
      const std::int64_t bytes = spec.bytes() * options_.microbatches;
      rank_.add_call("pipeline::merge_chunks", node, bytes);
      rank_.take_briefly(bytes, CommStream::compute, node);
    }
  }

  void update() {
    PartialGradients partial(rank_, tensor_ranks_);
    for (const CallId id : parts_.update) {
      rank_.go_to(id);
      partial.place_for(rank_.source().calls[static_cast<std::size_t>(id)]);
      rank_.copy_call();
      partial.drop_placed();
    }
  }

  const PipelineOptions& options_;
  Pipeline pipeline_;
  std::size_t own_rank_;
  std::vector<PipelineWork> works_;
  std::vector<int> in_flight_;  // By stage.
  std::int64_t tensor_ranks_;
  RankRecording rank_;
  StageParts parts_;
  std::vector<StagePass> passes_;
  std::vector<std::vector<StorageId>> names_;  // By microbatch and storage of the source.
};

}  // namespace

Recording pipeline_step(Recording recording, const ParallelOptions& options) {
  return PipelineStep(std::move(recording), options).run();
}

}  // namespace symprof::profile

// Rewrites the recorded step of one device as the step of one rank: calls and blocks of the
// parallel engine (DDP, FSDP2, pipeline) are inserted between the model's own.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "record/collective.h"
#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// The group of the collectives that a recording already has.
struct FunctionalGroup {
  MeshDimension dimension = MeshDimension::tensor;
  std::int64_t ranks = 1;
};
/// The group of tensor or expert parallelism (which change the graph), or of the file's own
/// collectives.
FunctionalGroup functional_group(const ParallelOptions& options);

/// Builds a new recording while walking the calls of another.
class RankRecording {
 public:
  /// If the recording is a rank's, its collectives are kept.
  explicit RankRecording(Recording recording, FunctionalGroup group);

  /// Storages, nodes and specs are copied at construction and may be changed.
  Recording& recording() { return rank_; }
  const Recording& source() const { return source_; }

  /// Leaves out the source's events for which the predicate is true.
  void leave_out(std::function<bool(const MemoryEvent&)> is_left_out) {
    is_left_out_ = std::move(is_left_out);
  }
  /// Copies the events before the source's first call.
  void copy_beginning();
  /// Copies the next call of the source with its events; engine calls are added in between. A call
  /// of torch.distributed._functional_collectives is listed as a collective of the group.
  void copy_call();
  /// The next call of the source; calls.size() after the last.
  CallId next() const { return next_; }
  /// Continues at another call of the source.
  void go_to(CallId call);
  /// Renames storages from here on: by storage of the source, its name in calls and events; empty:
  /// unchanged.
  void rename(std::vector<StorageId> names) { names_ = std::move(names); }
  /// The current name of a storage of the source.
  StorageId named(StorageId storage) const {
    return storage == none || names_.empty() ? storage : names_[static_cast<std::size_t>(storage)];
  }
  Phase phase() const { return phase_; }
  /// The last call added.
  CallId last_call() const { return static_cast<CallId>(rank_.calls.size()) - 1; }

  StorageId add_storage(std::int64_t bytes, StorageKind kind, CommStream stream, NodeId node);
  /// Adds an engine call that copies `copied_bytes` (profile/cost/flops/collective.cpp).
  CallId add_call(std::string_view op, NodeId node, std::int64_t copied_bytes = 0);
  /// Adds a call that is a collective.
  void add_collective(std::string_view op, Collective collective);
  /// Allocates or frees `storage` at the last call added.
  void take(StorageId storage) { add_event(storage, EventKind::allocate); }
  void give_back(StorageId storage) { add_event(storage, EventKind::free); }
  /// Following events happen only in these micro-batches.
  void enter(EventBatch batch) { batch_ = batch; }
  /// Adds a storage that the last call allocates and frees.
  void take_briefly(std::int64_t bytes, CommStream stream, NodeId node);

  std::vector<Collective>& collectives() { return collectives_; }
  std::vector<EngineEvent>& engine_events() { return engine_events_; }
  /// Returns the finished recording, with the calls of storages updated.
  Recording finish(const HeldByRank& held);

 private:
  void add_event(StorageId storage, EventKind kind);
  void copy_events(CallId call);
  void copy_collectives(CallId call);
  void note_functional(const CallRecord& call);
  std::int64_t bytes_of(const TensorRecord& tensor) const;

  Recording source_, rank_;
  FunctionalGroup group_;
  std::vector<StorageId> names_;
  /// The input of the last functional collective. NCCL's Work keeps it alive until wait(), which is
  /// at the result's reader: the next call of the source.
  StorageId sent_ = none;
  std::vector<StorageId> stashed_;
  std::vector<Collective> collectives_;
  /// If the source is a rank's: its next collective, and those whose `needed_by` is a source call.
  std::size_t next_collective_ = 0;
  std::vector<std::size_t> copied_collectives_;
  std::vector<EngineEvent> engine_events_;
  std::function<bool(const MemoryEvent&)> is_left_out_;
  std::vector<CallId> call_of_source_;
  std::size_t next_event_ = 0;
  CallId next_ = 0;
  Phase phase_ = Phase::forward;
  EventBatch batch_ = EventBatch::each;
};

/// True if a call is a collective of torch.distributed._functional_collectives.
bool has_functional_collectives(const Recording& recording);

/// The state that a rank keeps between steps, for engines that hold parameters, gradients and
/// optimizer states as recorded.
HeldByRank held_as_recorded(const Recording& recording);

}  // namespace symprof::profile

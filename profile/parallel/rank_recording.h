// A recorded step rewritten, call by call, into that of one rank: what the engine adds are calls
// of their own, with blocks that are taken and given back between those of the model.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "record/collective.h"
#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// The ranks of the collectives that a recording has already.
struct FunctionalGroup {
  MeshDimension dimension = MeshDimension::tensor;
  std::int64_t ranks = 1;
};
/// That of tensor or expert parallelism, which change the graph, or of those that the file has.
FunctionalGroup functional_group(const ParallelOptions& options);

/// Fills a new recording while it walks the calls of another.
class RankRecording {
 public:
  /// Where the recording is that of a rank, its own collectives stay.
  explicit RankRecording(Recording recording, FunctionalGroup group);

  /// The storages, nodes and specs are there from the beginning, and may be changed.
  Recording& recording() { return rank_; }
  const Recording& source() const { return source_; }

  /// Events of the source that are left out: those for which the answer is true.
  void leave_out(std::function<bool(const MemoryEvent&)> is_left_out) {
    is_left_out_ = std::move(is_left_out);
  }
  /// What came before the first call of the source.
  void copy_beginning();
  /// The next call of the source with its events. Engine calls come between. What is a collective
  /// of torch.distributed._functional_collectives already is listed as one of the group.
  void copy_call();
  /// The call of the source that comes next; calls.size() after the last.
  CallId next() const { return next_; }
  /// Goes on at another call of the source.
  void go_to(CallId call);
  /// By storage of the source, as which one calls and events from here on have it; empty: as
  /// itself.
  void rename(std::vector<StorageId> names) { names_ = std::move(names); }
  /// A storage of the source as calls have it now.
  StorageId named(StorageId storage) const {
    return storage == none || names_.empty() ? storage : names_[static_cast<std::size_t>(storage)];
  }
  Phase phase() const { return phase_; }
  /// That which was added last.
  CallId last_call() const { return static_cast<CallId>(rank_.calls.size()) - 1; }

  StorageId add_storage(std::int64_t bytes, StorageKind kind, CommStream stream, NodeId node);
  /// A call of the engine that copies so much (profile/cost/flops/collective.cpp).
  CallId add_call(std::string_view op, NodeId node, std::int64_t copied_bytes = 0);
  /// A call that is a collective.
  void add_collective(std::string_view op, Collective collective);
  /// `storage` is taken, or given back, by the call that was added last.
  void take(StorageId storage) { add_event(storage, EventKind::allocate); }
  void give_back(StorageId storage) { add_event(storage, EventKind::free); }
  /// What follows happens in these micro-batches alone.
  void enter(EventBatch batch) { batch_ = batch; }
  /// A storage that the last call takes and gives back.
  void take_briefly(std::int64_t bytes, CommStream stream, NodeId node);

  std::vector<Collective>& collectives() { return collectives_; }
  std::vector<EngineEvent>& engine_events() { return engine_events_; }
  /// The finished recording; storages know their calls again.
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
  /// What the last functional collective was given. NCCL's work holds it until somebody waits,
  /// which is who reads the result: the next call of the source.
  StorageId sent_ = none;
  std::vector<StorageId> stashed_;
  std::vector<Collective> collectives_;
  /// Of a source that is a rank's: its next collective, and those whose `needed_by` is its call.
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

/// Whether a call is a collective of torch.distributed._functional_collectives.
bool has_functional_collectives(const Recording& recording);

/// What a rank keeps between steps whose engine holds parameters, gradients and states as the
/// recording has them.
HeldByRank held_as_recorded(const Recording& recording);

}  // namespace symprof::profile

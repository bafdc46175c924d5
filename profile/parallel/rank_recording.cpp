#include "profile/parallel/rank_recording.h"

#include <algorithm>
#include <utility>

namespace symprof::profile {

RankRecording::RankRecording(Recording recording) : source_(std::move(recording)), rank_(source_) {
  rank_.calls.clear();
  rank_.events.clear();
  call_of_source_.reserve(source_.calls.size());
}

void RankRecording::copy_beginning() { copy_events(none); }

void RankRecording::copy_call() {
  phase_ = source_.calls[static_cast<std::size_t>(next_)].phase;
  rank_.calls.push_back(source_.calls[static_cast<std::size_t>(next_)]);
  call_of_source_.push_back(last_call());
  copy_events(next_++);
}

void RankRecording::copy_events(CallId call) {
  const std::vector<MemoryEvent>& events = source_.events;
  for (; next_event_ < events.size() && events[next_event_].call <= call; ++next_event_) {
    const MemoryEvent& event = events[next_event_];
    if (is_left_out_ && is_left_out_(event)) continue;
    rank_.events.push_back({event.storage, last_call(), event.kind});
  }
}

StorageId RankRecording::add_storage(std::int64_t bytes, StorageKind kind, CommStream stream,
                                     NodeId node) {
  rank_.storages.push_back(
      {.bytes = bytes, .kind = kind, .node = node, .stream = static_cast<std::int64_t>(stream)});
  return static_cast<StorageId>(rank_.storages.size()) - 1;
}

CallId RankRecording::add_call(std::string_view op, NodeId node, std::int64_t copied_bytes) {
  auto found = std::ranges::find(rank_.ops, op);
  if (found == rank_.ops.end()) found = rank_.ops.insert(found, std::string(op));
  const bool is_after = next_ < static_cast<CallId>(source_.calls.size());
  // What precedes the first call of a phase belongs to that phase.
  const Phase next_phase = is_after ? source_.calls[static_cast<std::size_t>(next_)].phase : phase_;
  const Phase phase =
      is_in_backward(phase_) || is_in_backward(next_phase) ? Phase::backward : Phase::forward;
  rank_.calls.push_back({.op = static_cast<std::int32_t>(found - rank_.ops.begin()),
                         .phase = phase,
                         .node = node,
                         .integers = {{0, copied_bytes}}});
  return last_call();
}

void RankRecording::add_collective(std::string_view op, Collective collective) {
  collective.call = add_call(op, collective.node, collective.bytes());
  collective.phase = rank_.calls.back().phase;
  collectives_.push_back(collective);
}

void RankRecording::take_briefly(std::int64_t bytes, CommStream stream, NodeId node) {
  const StorageId storage = add_storage(bytes, StorageKind::communication, stream, node);
  take(storage);
  give_back(storage);
}

void RankRecording::add_event(StorageId storage, EventKind kind) {
  StorageRecord& record = rank_.storages[static_cast<std::size_t>(storage)];
  if (record.allocated_by == none && kind == EventKind::allocate) record.allocated_by = last_call();
  rank_.events.push_back({storage, last_call(), kind, batch_});
}

Recording RankRecording::finish(const HeldByRank& held) {
  for (Collective& collective : collectives_)
    if (collective.needed_by == none)
      collective.needed_by = static_cast<CallId>(rank_.calls.size());
  RankRecord& record = rank_.rank.emplace();
  record.collectives = std::move(collectives_);
  record.held = held;
  record.engine_events = std::move(engine_events_);
  for (std::size_t i = 0; i < source_.storages.size(); ++i)
    if (const CallId call = source_.storages[i].allocated_by; call != none)
      rank_.storages[i].allocated_by = call_of_source_[static_cast<std::size_t>(call)];
  return std::move(rank_);
}

}  // namespace symprof::profile

#include "profile/parallel/rank_recording.h"

#include <algorithm>
#include <utility>

namespace symprof::profile {

namespace {

struct FunctionalCollective {
  std::string_view name;
  CollectiveOperator op;
  bool says_ranks = false;  ///< Its only integer argument is group_size.
};
constexpr FunctionalCollective functional_collectives[] = {
    {"_c10d_functional::all_reduce", CollectiveOperator::all_reduce},
    {"_c10d_functional::all_gather_into_tensor", CollectiveOperator::all_gather, true},
    {"_c10d_functional::reduce_scatter_tensor", CollectiveOperator::reduce_scatter, true},
    {"_c10d_functional::all_to_all_single", CollectiveOperator::all_to_all},
    {"_c10d_functional::broadcast", CollectiveOperator::broadcast},
};

const FunctionalCollective* functional_called(std::string_view name) {
  const auto* row = std::ranges::find(functional_collectives, name, &FunctionalCollective::name);
  return row == std::end(functional_collectives) ? nullptr : row;
}

}  // namespace

FunctionalGroup functional_group(const ParallelOptions& options) {
  if (options.expert > 1) return {MeshDimension::expert, options.expert};
  return {MeshDimension::tensor, options.tensor * options.recorded};
}

RankRecording::RankRecording(Recording recording, FunctionalGroup group)
    : source_(std::move(recording)), rank_(source_), group_(group) {
  rank_.calls.clear();
  rank_.events.clear();
  call_of_source_.resize(source_.calls.size(), none);
  if (!source_.rank) return;
  engine_events_ = source_.rank->engine_events;
  rank_.rank.reset();
}

void RankRecording::copy_beginning() { copy_events(none); }

void RankRecording::copy_call() {
  phase_ = source_.calls[static_cast<std::size_t>(next_)].phase;
  const CallRecord& call = source_.calls[static_cast<std::size_t>(next_)];
  for (const StorageId storage : std::exchange(stashed_, {})) add_event(storage, EventKind::free);
  rank_.calls.push_back(call);
  if (!names_.empty()) {
    for (TensorRecord& input : rank_.calls.back().inputs) input.storage = named(input.storage);
    for (TensorRecord& output : rank_.calls.back().outputs) output.storage = named(output.storage);
  }
  CallId& copy = call_of_source_[static_cast<std::size_t>(next_)];
  if (copy == none) copy = last_call();
  if (source_.rank)
    copy_collectives(next_);
  else
    note_functional(call);
  copy_events(next_++);
}

void RankRecording::go_to(CallId call) {
  next_ = call;
  next_event_ = static_cast<std::size_t>(
      std::ranges::lower_bound(source_.events, call, {}, &MemoryEvent::call) -
      source_.events.begin());
}

std::int64_t RankRecording::bytes_of(const TensorRecord& tensor) const {
  return tensor.spec == none ? 0 : source_.specs[static_cast<std::size_t>(tensor.spec)].bytes();
}

/// Copies the collectives that the source (a rank's recording) has at `call`.
void RankRecording::copy_collectives(CallId call) {
  const std::vector<Collective>& all = source_.rank->collectives;
  for (; next_collective_ < all.size() && all[next_collective_].call <= call; ++next_collective_) {
    copied_collectives_.push_back(collectives_.size());
    collectives_.push_back(all[next_collective_]);
    collectives_.back().call = last_call();
  }
}

/// Notes the last copied call.
void RankRecording::note_functional(const CallRecord& call) {
  const std::string& name = source_.ops[static_cast<std::size_t>(call.op)];
  const FunctionalCollective* row = functional_called(name);
  if (name != "_c10d_functional::wait_tensor") sent_ = none;
  if (row == nullptr || call.inputs.empty() || call.outputs.empty()) return;
  sent_ = call.inputs[0].storage;
  const bool is_said = row->says_ranks && call.integers.size() == 1;
  collectives_.push_back({.op = row->op,
                          .dimension = group_.dimension,
                          .group_size = is_said ? call.integers[0].value : group_.ranks,
                          .input_bytes = bytes_of(call.inputs[0]),
                          .output_bytes = bytes_of(call.outputs[0]),
                          .phase = call.phase,
                          .node = call.node,
                          .call = last_call(),
                          .needed_by = last_call() + 1});
}

void RankRecording::copy_events(CallId call) {
  const std::vector<MemoryEvent>& events = source_.events;
  for (; next_event_ < events.size() && events[next_event_].call <= call; ++next_event_) {
    const MemoryEvent& event = events[next_event_];
    if (is_left_out_ && is_left_out_(event)) continue;
    if (event.kind == EventKind::free && event.storage == sent_)
      stashed_.push_back(named(event.storage));
    else
      add_event(named(event.storage), event.kind);
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
  // Engine calls before the first call of a phase belong to that phase.
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
  for (const std::size_t i : copied_collectives_) {
    CallId& needed_by = collectives_[i].needed_by;
    const auto place = static_cast<std::size_t>(needed_by);
    needed_by = place < call_of_source_.size() ? call_of_source_[place] : none;
  }
  for (Collective& collective : collectives_)
    if (collective.needed_by == none)
      collective.needed_by = static_cast<CallId>(rank_.calls.size());
  RankRecord& record = rank_.rank.emplace();
  record.collectives = std::move(collectives_);
  record.held = held;
  record.engine_events = std::move(engine_events_);
  if (source_.rank) record.passes = source_.rank->passes;
  for (StagePass& pass : record.passes)
    for (CallId* call : {&pass.first, &pass.last})
      *call = call_of_source_[static_cast<std::size_t>(*call)];
  for (std::size_t i = 0; i < source_.storages.size(); ++i)
    if (const CallId call = source_.storages[i].allocated_by; call != none)
      rank_.storages[i].allocated_by = call_of_source_[static_cast<std::size_t>(call)];
  return std::move(rank_);
}

bool has_functional_collectives(const Recording& recording) {
  return std::ranges::any_of(
      recording.ops, [](const std::string& op) { return functional_called(op) != nullptr; });
}

HeldByRank held_as_recorded(const Recording& recording) {
  HeldByRank held;
  for (const StorageRecord& record : recording.storages) {
    if (record.kind == StorageKind::parameter) held.parameter_bytes += record.bytes;
    if (record.kind == StorageKind::gradient) held.gradient_bytes += record.bytes;
    if (record.kind == StorageKind::optimizer_state) held.optimizer_bytes += record.bytes;
  }
  return held;
}

}  // namespace symprof::profile

#include "shape/eager/replay.h"

#include <ATen/core/grad_mode.h>

namespace symprof::shape {

void Replay::run() {
  for (CallId call = capture_.first_call; call < capture_.end_call; ++call) {
    reach(call);
    repeat(call);
  }
  reach(capture_.end_call);
  repeat_saves(capture_.end_save);
  rename_tensors_of_nodes();
}

void Replay::reach(CallId call) {
  for (; next_mark_ < capture_.marks.size(); ++next_mark_) {
    const CaptureMark& mark = capture_.marks[next_mark_];
    if (mark.before_call > call) return;
    repeat_saves(mark.before_save);
    const at::AutoGradMode mode(mark.is_grad_enabled);
    mark.tell(nodes_);
  }
}

void Replay::repeat(CallId id) {
  CallRecord call = recorder_.recording().calls[static_cast<std::size_t>(id)];
  call.node = node_of(call.node);
  call.stream = graph_replay_stream;
  repeat_storages(id);
  rename(call.inputs);
  rename(call.outputs);
  recorder_.repeat_call(std::move(call));
  repeat_events(id);
}

bool Replay::is_at(std::size_t event, CallId call) const {
  return event < capture_.end_event && recorder_.recording().events[event].call <= call;
}

// What a capture has made and still lives is where each replay writes.
void Replay::repeat_storages(CallId call) {
  const Recording& recording = recorder_.recording();
  for (std::size_t i = next_event_; is_at(i, call); ++i) {
    const MemoryEvent event = recording.events[i];
    if (event.kind != EventKind::allocate || !freed_.contains(event.storage)) continue;
    StorageRecord storage = recording.storages[static_cast<std::size_t>(event.storage)];
    storage.allocated_by = static_cast<CallId>(recording.calls.size());
    storage.node = node_of(storage.node);
    storage.stream = graph_replay_stream;
    free_storage(event.storage);
    made_[event.storage] = recorder_.repeat_storage(storage);
  }
}

void Replay::repeat_events(CallId call) {
  const Recording& recording = recorder_.recording();
  for (; is_at(next_event_, call); ++next_event_) {
    const MemoryEvent event = recording.events[next_event_];
    if (event.kind == EventKind::free) {
      free_storage(event.storage);
    } else if (const auto made = made_.find(event.storage); made != made_.end()) {
      recorder_.repeat_event(made->second, EventKind::allocate);
      last_.storages[event.storage] = made->second;
    }
  }
}

void Replay::free_storage(StorageId storage) {
  const auto last = last_.storages.extract(storage);
  if (!last.empty()) recorder_.repeat_event(last.mapped(), EventKind::free);
}

void Replay::repeat_saves(std::size_t end) {
  for (; next_save_ < end; ++next_save_) {
    SaveEvent save = recorder_.saves()[next_save_];
    save.storage = storage_of(save.storage);
    recorder_.repeat_save(save);
  }
}

// A node of another graph's capture is that of its last replay.
NodeId Replay::node_of(NodeId node) {
  if (node == none) return none;
  if (const auto own = nodes_.own_node(node)) return *own;
  if (node >= capture_.first_node && node < capture_.end_node)
    for (; next_node_ <= node; ++next_node_) {
      if (nodes_.own_node(next_node_)) continue;
      made_nodes_.push_back(last_.nodes[next_node_] = nodes_.repeat_node(next_node_));
    }
  const auto last = last_.nodes.find(node);
  return last == last_.nodes.end() ? node : last->second;
}

StorageId Replay::storage_of(StorageId storage) const {
  if (const auto made = made_.find(storage); made != made_.end()) return made->second;
  const auto last = last_.storages.find(storage);
  return last == last_.storages.end() ? storage : last->second;
}

void Replay::rename(std::vector<TensorRecord>& tensors) const {
  for (TensorRecord& tensor : tensors) tensor.storage = storage_of(tensor.storage);
}

void Replay::rename_tensors_of_nodes() {
  for (const NodeId id : made_nodes_) {
    NodeRecord& node = recorder_.recording().nodes[static_cast<std::size_t>(id)];
    rename(node.inputs);
    rename(node.outputs);
  }
}

}  // namespace symprof::shape

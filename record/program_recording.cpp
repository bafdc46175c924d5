#include "record/program_recording.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "record/saved_kinds.h"

namespace symprof {
namespace {

/// The two nodes of each part of a step: calls of no other node, and the update.
constexpr NodeId own_nodes = 2;

/// True if `node` is one of these two nodes of a part.
bool is_own(const ProgramStep& step, NodeId node) {
  if (node - step.first_node < own_nodes) return true;
  const auto after = std::ranges::upper_bound(step.later_parts, node);
  return after != step.later_parts.begin() && node - *std::prev(after) < own_nodes;
}

/// The index, in step_of()'s nodes, of the node for calls of no other node.
NodeId other(const ProgramStep& step) {
  const auto parts = static_cast<NodeId>(step.later_parts.size()) + 1;
  return step.end_node - step.first_node - own_nodes * parts;
}

/// The storages that are alive when their total is largest.
class HeldAtMost {
 public:
  explicit HeldAtMost(std::size_t storages) : is_held_(storages), was_held_(storages) {}

  void add(StorageId storage, std::int64_t bytes) {
    if (is_held_[static_cast<std::size_t>(storage)]) return;
    is_held_[static_cast<std::size_t>(storage)] = true;
    sizes_[storage] = bytes;
    bytes_ += bytes;
    is_at_most_ |= bytes_ > most_;
    most_ = std::max(most_, bytes_);
  }

  void remove(StorageId storage) {
    if (!is_held_[static_cast<std::size_t>(storage)]) return;
    remember();
    is_held_[static_cast<std::size_t>(storage)] = false;
    bytes_ -= sizes_.at(storage);
    sizes_.erase(storage);
  }

  bool had(std::size_t storage) {
    remember();
    return was_held_[storage];
  }

 private:
  /// Called before a storage is released, and at the end: the current set is then the largest one.
  void remember() {
    if (std::exchange(is_at_most_, false)) was_held_ = is_held_;
  }

  std::vector<bool> is_held_, was_held_;
  std::unordered_map<StorageId, std::int64_t> sizes_;
  std::int64_t bytes_ = 0, most_ = 0;
  bool is_at_most_ = false;
};

class Slice {
 public:
  Slice(const ProgramRecording& program, const ProgramStep& step)
      : whole_(program.recording), saves_(program.saves), step_(step) {}

  Recording take() {
    copy_head();
    copy_nodes();
    find_storages();
    for (CallId call = step_.first_call; call < step_.end_call; ++call) copy_call(call);
    for (const MemoryEvent& event : whole_.events)
      if (is_of_step(event.call))
        part_.events.push_back({new_id(event.storage), event.call - step_.first_call, event.kind});
    keep_saved_at_most();
    keep_gradients_at_most();
    rename_storages();
    return std::move(part_);
  }

 private:
  bool is_of_step(CallId call) const { return call >= step_.first_call && call < step_.end_call; }

  void copy_head() {
    part_.path = whole_.path;
    part_.format = whole_.format;
    part_.traits = whole_.traits;
    part_.producer = whole_.producer;
    part_.modules = whole_.modules;
    part_.specs = whole_.specs;
    part_.ops = whole_.ops;
    part_.parameter_count = whole_.parameter_count;
    part_.warnings = whole_.warnings;
  }

  /// Copies nodes in the order of a recording: the step's own two nodes last.
  void copy_nodes() {
    for (NodeId node = step_.first_node; node < step_.end_node; ++node)
      if (!is_own(step_, node)) part_.nodes.push_back(whole_.nodes[static_cast<std::size_t>(node)]);
    const auto first = whole_.nodes.begin() + step_.first_node;
    part_.nodes.insert(part_.nodes.end(), first, first + own_nodes);
  }

  NodeId new_node(NodeId node) const { return node_in_step(step_, node).value_or(other(step_)); }

  /// Finds the storages that exist when the step begins, and those that it allocates.
  void find_storages() {
    std::vector<bool> is_gone(whole_.storages.size()), is_later(whole_.storages.size());
    is_dropped_.resize(whole_.storages.size());
    for (std::size_t i = step_.first_event; i < step_.end_event;
         ++i)  // Excludes frees at program exit.
      if (whole_.events[i].kind == EventKind::free)
        is_dropped_[static_cast<std::size_t>(whole_.events[i].storage)] = true;
    for (const MemoryEvent& event : whole_.events) {
      const auto storage = static_cast<std::size_t>(event.storage);
      if (event.kind == EventKind::free && event.call < step_.first_call) is_gone[storage] = true;
      if (event.kind == EventKind::allocate && event.call >= step_.end_call)
        is_later[storage] = true;
    }
    new_ids_.assign(whole_.storages.size(), none);
    for (std::size_t i = 0; i < whole_.storages.size(); ++i)
      if (!is_gone[i] && !is_later[i]) add_storage(static_cast<StorageId>(i));
  }

  void add_storage(StorageId storage) {
    StorageRecord record = whole_.storages[static_cast<std::size_t>(storage)];
    const bool is_made_here = record.allocated_by != none && is_of_step(record.allocated_by);
    record.allocated_by = is_made_here ? record.allocated_by - step_.first_call : none;
    record.node = is_made_here ? new_node(record.node) : none;
    if (!is_made_here) forget_earlier_step(record, storage);
    // Only states alive at the end of the step count: an optimizer may recreate a state in each
    // step.
    if (record.kind == StorageKind::optimizer_state &&
        is_dropped_[static_cast<std::size_t>(storage)])
      record.kind = StorageKind::activation;
    new_ids_[static_cast<std::size_t>(storage)] = static_cast<StorageId>(part_.storages.size());
    part_.storages.push_back(record);
  }

  /// Clears the saved flag of an earlier step; its gradients and batch become activations if this
  /// step releases them.
  void forget_earlier_step(StorageRecord& record, StorageId storage) const {
    record.saved = false;
    const bool is_of_a_step =
        record.kind == StorageKind::gradient || record.kind == StorageKind::input;
    if (is_of_a_step && is_dropped_[static_cast<std::size_t>(storage)])
      record.kind = StorageKind::activation;
  }

  /// Marks as saved only the tensors that autograd holds when their total is largest.
  void keep_saved_at_most() {
    HeldAtMost held(part_.storages.size());
    std::vector<int> savers(part_.storages.size()), earlier(part_.storages.size());
    for (std::size_t i = 0; i < step_.end_save; ++i) {
      const SaveEvent& event = saves_[i];
      const StorageId id = new_id(event.storage);
      if (id == none) continue;
      // Tensors saved by an earlier step's graph are released first.
      int& of_earlier = earlier[static_cast<std::size_t>(id)];
      const bool is_earlier = i < step_.first_save || (!event.is_saved && of_earlier > 0);
      if (is_earlier) {
        of_earlier += event.is_saved ? 1 : -1;
        continue;
      }
      const auto storage = static_cast<std::size_t>(id);
      if (event.is_saved && savers[storage]++ == 0)
        held.add(id, kept_bytes(part_.storages[storage]));
      if (!event.is_saved && savers[storage] > 0 && --savers[storage] == 0) held.remove(id);
    }
    if (saves_.empty()) return;
    for (std::size_t i = 0; i < part_.storages.size(); ++i) {
      StorageRecord& storage = part_.storages[i];
      storage.saved = held.had(i);
      if (storage.saved && storage.node == none)
        storage.node = other(step_);  // Allocated before the step.
    }
  }

  static std::int64_t kept_bytes(const StorageRecord& storage) {
    return counts_as_saved(storage.kind) ? storage.bytes : 0;
  }

  /// Counts only the gradients alive when their total is largest: those of an earlier pass may be
  /// freed before the next pass.
  void keep_gradients_at_most() {
    HeldAtMost held(part_.storages.size());
    const auto is_gradient = [&](std::size_t i) {
      return part_.storages[i].kind == StorageKind::gradient;
    };
    for (std::size_t i = 0; i < part_.storages.size(); ++i)
      if (is_gradient(i) && part_.storages[i].allocated_by == none)
        held.add(static_cast<StorageId>(i), part_.storages[i].bytes);
    for (const MemoryEvent& event : part_.events) {
      if (event.storage == none || !is_gradient(static_cast<std::size_t>(event.storage))) continue;
      if (event.kind == EventKind::free)
        held.remove(event.storage);
      else
        held.add(event.storage, part_.storages[static_cast<std::size_t>(event.storage)].bytes);
    }
    for (std::size_t i = 0; i < part_.storages.size(); ++i)
      if (is_gradient(i) && !held.had(i)) part_.storages[i].kind = StorageKind::activation;
  }

  StorageId new_id(StorageId storage) const {
    return storage == none ? none : new_ids_[static_cast<std::size_t>(storage)];
  }

  void rename(std::vector<TensorRecord>& tensors) const {
    for (TensorRecord& tensor : tensors) tensor.storage = new_id(tensor.storage);
  }

  void copy_call(CallId id) {
    CallRecord call = whole_.calls[static_cast<std::size_t>(id)];
    call.node = new_node(call.node);
    rename(call.inputs);
    rename(call.outputs);
    part_.calls.push_back(std::move(call));
  }

  void rename_storages() {
    for (NodeRecord& node : part_.nodes) {
      rename(node.inputs);
      rename(node.outputs);
      for (StorageId& parameter : node.parameters) parameter = new_id(parameter);
      std::erase(node.parameters, none);  // A CUDA graph may be replayed after its model is gone.
    }
    for (StorageRecord& storage : part_.storages) storage.parameter = new_id(storage.parameter);
  }

  const Recording& whole_;
  const std::vector<SaveEvent>& saves_;
  const ProgramStep step_;
  Recording part_;
  std::vector<StorageId> new_ids_;
  std::vector<bool> is_dropped_;  // By the program's storage: freed in the step.
};

}  // namespace

std::optional<NodeId> node_in_step(const ProgramStep& step, NodeId node) {
  if (node < step.first_node || node >= step.end_node) return std::nullopt;
  const auto after = std::ranges::upper_bound(step.later_parts, node);
  const auto parts = static_cast<NodeId>(after - step.later_parts.begin()) + 1;
  const NodeId first = parts == 1 ? step.first_node : *std::prev(after);
  if (node - first < own_nodes) return other(step) + (node - first);
  return node - step.first_node - own_nodes * parts;
}

Recording step_of(const ProgramRecording& program, const ProgramStep& step) {
  return Slice(program, step).take();
}

}  // namespace symprof

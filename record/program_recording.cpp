#include "record/program_recording.h"

#include <utility>

namespace symprof {
namespace {

/// What has no other node, and the update.
constexpr NodeId own_nodes = 2;

class Slice {
 public:
  Slice(const ProgramRecording& program, std::size_t step)
      : whole_(program.recording), step_(program.steps.at(step)) {}

  Recording take() {
    copy_head();
    copy_nodes();
    find_storages();
    for (CallId call = step_.first_call; call < step_.end_call; ++call) copy_call(call);
    for (const MemoryEvent& event : whole_.events)
      if (is_of_step(event.call))
        part_.events.push_back({new_id(event.storage), event.call - step_.first_call, event.kind});
    rename_storages();
    return std::move(part_);
  }

 private:
  bool is_of_step(CallId call) const { return call >= step_.first_call && call < step_.end_call; }

  void copy_head() {
    part_.path = whole_.path;
    part_.format = whole_.format;
    part_.producer = whole_.producer;
    part_.modules = whole_.modules;
    part_.specs = whole_.specs;
    part_.ops = whole_.ops;
    part_.parameter_count = whole_.parameter_count;
    part_.warnings = whole_.warnings;
  }

  /// In the order of a recording: the step's own two nodes last.
  void copy_nodes() {
    const auto first = whole_.nodes.begin() + step_.first_node;
    const auto end = whole_.nodes.begin() + step_.end_node;
    part_.nodes.assign(first + own_nodes, end);
    part_.nodes.insert(part_.nodes.end(), first, first + own_nodes);
  }

  NodeId new_node(NodeId node) const { return node_in_step(step_, node).value_or(other()); }
  /// The node of what belongs to no other.
  NodeId other() const { return step_.end_node - step_.first_node - own_nodes; }

  /// Those that are there when the step begins, and those that it makes.
  void find_storages() {
    std::vector<bool> is_gone(whole_.storages.size()), is_later(whole_.storages.size());
    is_dropped_.resize(whole_.storages.size());
    for (const MemoryEvent& event : whole_.events) {
      const auto storage = static_cast<std::size_t>(event.storage);
      if (event.kind == EventKind::free && event.call < step_.first_call) is_gone[storage] = true;
      if (event.kind == EventKind::free && is_of_step(event.call)) is_dropped_[storage] = true;
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
    new_ids_[static_cast<std::size_t>(storage)] = static_cast<StorageId>(part_.storages.size());
    part_.storages.push_back(record);
  }

  /// What an earlier step saved, and its gradients and batch where this one drops them, are none of
  /// this step's.
  void forget_earlier_step(StorageRecord& record, StorageId storage) const {
    record.saved = false;
    const bool is_of_a_step =
        record.kind == StorageKind::gradient || record.kind == StorageKind::input;
    if (is_of_a_step && is_dropped_[static_cast<std::size_t>(storage)])
      record.kind = StorageKind::activation;
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
    }
    for (StorageRecord& storage : part_.storages) storage.parameter = new_id(storage.parameter);
  }

  const Recording& whole_;
  const ProgramStep step_;
  Recording part_;
  std::vector<StorageId> new_ids_;
  std::vector<bool> is_dropped_;  // By storage of the program: freed in the step.
};

}  // namespace

std::optional<NodeId> node_in_step(const ProgramStep& step, NodeId node) {
  if (node < step.first_node || node >= step.end_node) return std::nullopt;
  const NodeId place = node - step.first_node;
  return place < own_nodes ? step.end_node - step.first_node - own_nodes + place
                           : place - own_nodes;
}

Recording step_of(const ProgramRecording& program, std::size_t step) {
  return Slice(program, step).take();
}

}  // namespace symprof

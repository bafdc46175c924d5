#include "profile/memory/holdings.h"

#include <algorithm>
#include <span>

namespace symprof::profile {
namespace {

/// By storage: the first node of [begin, end) that takes it as an input.
std::vector<NodeId> first_users(const Recording& recording, NodeId begin, NodeId end) {
  std::vector<NodeId> users(recording.storages.size(), none);
  for (NodeId node = begin; node < end; ++node)
    for (const TensorRecord& input : recording.nodes[static_cast<std::size_t>(node)].inputs) {
      if (input.storage == none) continue;
      NodeId& user = users[static_cast<std::size_t>(input.storage)];
      if (user == none) user = node;
    }
  return users;
}

/// The first update of [begin, end).
NodeId optimizer_node(const Recording& recording, NodeId begin, NodeId end) {
  for (NodeId node = begin; node < end; ++node)
    if (recording.nodes[static_cast<std::size_t>(node)].kind == NodeKind::optimizer) return node;
  return none;
}

}  // namespace

MemoryCategory category_of(const StorageRecord& storage) {
  switch (storage.kind) {
    case StorageKind::parameter:
      return MemoryCategory::parameters;
    case StorageKind::buffer:
      return MemoryCategory::buffers;
    case StorageKind::input:
      return MemoryCategory::inputs;
    case StorageKind::gradient:
      return MemoryCategory::gradients;
    case StorageKind::optimizer_state:
      return MemoryCategory::optimizer;
    case StorageKind::communication:
      return MemoryCategory::communication;
    case StorageKind::kv_cache:
      return MemoryCategory::kv_cache;
    case StorageKind::activation:
    case StorageKind::offloaded:
      break;
  }
  return storage.saved ? MemoryCategory::activations : MemoryCategory::temporaries;
}

std::vector<MemoryCategory> storage_categories(const Recording& recording,
                                               const std::optional<ProgramRange>& range) {
  std::vector<bool> is_freed(recording.storages.size());
  for (std::size_t i = 0; range && i < range->end_event; ++i)
    if (const MemoryEvent& event = recording.events[i]; event.kind == EventKind::free)
      is_freed[static_cast<std::size_t>(event.storage)] = true;
  std::vector<MemoryCategory> categories;
  categories.reserve(is_freed.size());
  for (const StorageRecord& storage : recording.storages) {
    const bool is_persistent = range && storage.kind == StorageKind::activation && !storage.saved &&
                               storage.allocated_by < range->first_call &&
                               !is_freed[categories.size()];
    categories.push_back(is_persistent ? MemoryCategory::persistent : category_of(storage));
  }
  return categories;
}

std::vector<NodeId> storage_owners(const Recording& recording,
                                   const std::optional<ProgramRange>& range) {
  const NodeId begin = range ? range->first_node : 0;
  const auto end = range ? range->end_node : static_cast<NodeId>(recording.nodes.size());
  const CallId first_call = range ? range->first_call : 0;
  const std::vector<NodeId> users = first_users(recording, begin, end);
  const NodeId optimizer = optimizer_node(recording, begin, end);
  std::vector<NodeId> owners(recording.storages.size());
  for (std::size_t i = 0; i < owners.size(); ++i) {
    // The state of a master weight belongs to the master, and the master to the model's parameter.
    std::size_t of = i;
    while (recording.storages[of].parameter != none)
      of = static_cast<std::size_t>(recording.storages[of].parameter);
    const StorageRecord& storage = recording.storages[of];
    // Storages allocated before the step have no producer in it; graph inputs have their own nodes.
    const bool has_node = storage.node >= begin && storage.node < end;
    const bool is_users =
        storage.allocated_by < first_call && !(storage.kind == StorageKind::input && has_node);
    const NodeId user = is_users ? users[of] : none;
    const bool is_shared_state = storage.kind == StorageKind::optimizer_state;
    owners[i] = user != none ? user : is_shared_state ? optimizer : storage.node;
  }
  return owners;
}

std::vector<NodeHolding> Holdings::at_peak() const {
  const std::span<const Change> changes(changes_.data(), changes_until_peak_);
  NodeId last = none;
  for (const Change& change : changes) last = std::max(last, change.owner);
  std::vector<NodeHolding> all(static_cast<std::size_t>(last - none) + 1);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].node = static_cast<NodeId>(i) + none;
  for (const Change& change : changes)
    all[static_cast<std::size_t>(change.owner - none)].held[change.category] += change.bytes;
  std::erase_if(all, [](const NodeHolding& holding) { return holding.held.total() == 0; });
  return all;
}

}  // namespace symprof::profile

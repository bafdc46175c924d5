#include "profile/parallel/wrapped_groups.h"

#include <algorithm>

#include "base/error.h"

namespace symprof::profile {
namespace {

/// The innermost of `groups` around the module at `path`; null without one.
ParameterGroup* innermost(std::vector<ParameterGroup>& groups, std::string_view path) {
  ParameterGroup* best = nullptr;
  for (ParameterGroup& group : groups)
    if (is_inside(path, group.module) &&
        (best == nullptr || group.module.size() > best->module.size()))
      best = &group;
  return best;
}

/// By storage: the group of each parameter, that of the first node that uses it.
std::vector<ParameterGroup*> groups_of_parameters(const Recording& recording,
                                                  std::vector<ParameterGroup>& groups) {
  std::vector<ParameterGroup*> owners(recording.storages.size(), nullptr);
  for (std::size_t i = 0; i < recording.nodes.size(); ++i) {
    const NodeRecord& node = recording.nodes[i];
    for (const StorageId parameter : node.parameters) {
      ParameterGroup*& owner = owners[static_cast<std::size_t>(parameter)];
      if (owner != nullptr) continue;
      owner = innermost(groups, node.module);
      if (owner == nullptr)
        throw Error(SettingRef{"wrap"},
                    "node " + node.name + " uses a parameter of no wrapped module.",
                    "Wrap a module around it too: every rank would hold it whole, which is not "
                    "simulated.");
      if (owner->node == none) owner->node = static_cast<NodeId>(i);
    }
  }
  return owners;
}

void add_calls(const Recording& recording, std::vector<ParameterGroup>& groups) {
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const CallRecord& call = recording.calls[i];
    const NodeRecord& node = recording.nodes[static_cast<std::size_t>(call.node)];
    if (node.kind != NodeKind::operation) continue;
    for (ParameterGroup& group : groups) {
      if (!is_inside(node.module, group.module)) continue;
      if (call.phase == Phase::forward) group.forward.add(static_cast<CallId>(i));
      if (is_in_backward(call.phase)) group.backward.add(static_cast<CallId>(i));
    }
  }
}

}  // namespace

bool is_inside(std::string_view path, std::string_view module) {
  if (module.empty()) return true;
  if (!path.starts_with(module)) return false;
  return path.size() == module.size() || path[module.size()] == '.' || path[module.size()] == '@';
}

std::vector<ParameterGroup> parameter_groups(const Recording& recording,
                                             std::span<const std::string> wrapped) {
  std::vector<ParameterGroup> groups;
  groups.reserve(wrapped.size());
  for (const std::string& module : wrapped) groups.push_back({.module = module});
  const std::vector<ParameterGroup*> owners = groups_of_parameters(recording, groups);
  for (std::size_t i = 0; i < recording.storages.size(); ++i) {
    const StorageRecord& shard = recording.storages[i];
    if (shard.kind != StorageKind::parameter || shard.parameter == none) continue;
    ParameterGroup* owner = owners[static_cast<std::size_t>(shard.parameter)];
    if (owner == nullptr) continue;  // Nobody uses it: it stays a shard.
    owner->parameters.push_back(shard.parameter);
    owner->shards.push_back(static_cast<StorageId>(i));
  }
  add_calls(recording, groups);
  std::erase_if(groups, [](const ParameterGroup& group) {
    return group.forward.is_empty() || (group.parameters.empty() && !group.module.empty());
  });
  std::ranges::stable_sort(groups, [](const ParameterGroup& left, const ParameterGroup& right) {
    if (left.forward.first != right.forward.first) return left.forward.first < right.forward.first;
    return left.module.size() < right.module.size();
  });
  return groups;
}

}  // namespace symprof::profile

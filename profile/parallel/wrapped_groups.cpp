#include "profile/parallel/wrapped_groups.h"

#include <algorithm>
#include <map>

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

/// A parameter of a group, with the module that uses it first.
struct Member {
  StorageId parameter = none, shard = none;
  std::string_view module;
  std::size_t end = 0;  ///< Position of the last parameter inside that module.
};

/// From the order of named_parameters to that of FSDP2's groups: submodules come before a module's
/// own parameters (_get_managed_modules of _fsdp_init.py).
void order_as_fsdp(std::vector<Member>& members) {
  for (Member& member : members)
    for (std::size_t i = 0; i < members.size(); ++i)
      if (is_inside(members[i].module, member.module)) member.end = i;
  std::ranges::stable_sort(members, [](const Member& left, const Member& right) {
    if (left.end != right.end) return left.end < right.end;
    return left.module.size() > right.module.size();
  });
}

/// By storage: the group of each parameter, from the first node that uses it; that node's module is
/// written to `modules`.
std::vector<ParameterGroup*> groups_of_parameters(const Recording& recording,
                                                  std::vector<ParameterGroup>& groups,
                                                  std::vector<std::string_view>& modules) {
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
      modules[static_cast<std::size_t>(parameter)] = node.module;
      if (owner->node == none) owner->node = static_cast<NodeId>(i);
    }
  }
  return owners;
}

void add_pass(const Recording& recording, std::vector<ParameterGroup>& groups,
              const CallRange& pass) {
  for (ParameterGroup& group : groups) {
    CallRange forward, backward;
    for (CallId id = pass.first; id <= pass.last; ++id) {
      const CallRecord& call = recording.calls[static_cast<std::size_t>(id)];
      const NodeRecord& node = recording.nodes[static_cast<std::size_t>(call.node)];
      if (node.kind != NodeKind::operation || !is_inside(node.module, group.module)) continue;
      if (call.phase == Phase::forward) forward.add(id);
      if (is_in_backward(call.phase)) backward.add(id);
    }
    if (!forward.is_empty()) group.forward.push_back(forward);
    if (!backward.is_empty()) group.backward.push_back(backward);
  }
}

}  // namespace

bool begins_with(std::span<const CallRange> ranges, CallId call) {
  return std::ranges::find(ranges, call, &CallRange::first) != ranges.end();
}

bool ends_with(std::span<const CallRange> ranges, CallId call) {
  return std::ranges::find(ranges, call, &CallRange::last) != ranges.end();
}

bool is_inside(std::string_view path, std::string_view module) {
  if (module.empty()) return true;
  if (!path.starts_with(module)) return false;
  return path.size() == module.size() || path[module.size()] == '.' || path[module.size()] == '@';
}

std::vector<ParameterGroup> parameter_groups(const Recording& recording,
                                             std::span<const std::string> wrapped,
                                             std::span<const CallRange> passes) {
  std::vector<ParameterGroup> groups;
  groups.reserve(wrapped.size());
  for (const std::string& module : wrapped) groups.push_back({.module = module});
  std::vector<std::string_view> modules(recording.storages.size());
  const std::vector<ParameterGroup*> owners = groups_of_parameters(recording, groups, modules);
  std::map<ParameterGroup*, std::vector<Member>> members;
  for (std::size_t i = 0; i < recording.storages.size(); ++i) {
    const StorageRecord& shard = recording.storages[i];
    if (shard.kind != StorageKind::parameter || shard.parameter == none) continue;
    ParameterGroup* owner = owners[static_cast<std::size_t>(shard.parameter)];
    if (owner == nullptr) continue;  // Unused: stays a shard.
    members[owner].push_back({.parameter = shard.parameter,
                              .shard = static_cast<StorageId>(i),
                              .module = modules[static_cast<std::size_t>(shard.parameter)]});
  }
  for (auto& [group, all] : members) {
    order_as_fsdp(all);
    for (const Member& member : all) {
      group->parameters.push_back(member.parameter);
      group->shards.push_back(member.shard);
    }
  }
  if (passes.empty() && !recording.calls.empty())
    add_pass(recording, groups, {0, static_cast<CallId>(recording.calls.size()) - 1});
  for (const CallRange& pass : passes) add_pass(recording, groups, pass);
  std::erase_if(groups, [](const ParameterGroup& group) {
    return group.forward.empty() || (group.parameters.empty() && !group.module.empty());
  });
  std::ranges::stable_sort(groups, [](const ParameterGroup& left, const ParameterGroup& right) {
    const CallId first = left.forward.front().first, second = right.forward.front().first;
    if (first != second) return first < second;
    return left.module.size() < right.module.size();
  });
  return groups;
}

}  // namespace symprof::profile

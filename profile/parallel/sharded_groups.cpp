#include "profile/parallel/sharded_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "profile/parallel/expert_parameters.h"

namespace symprof::profile {
namespace {

/// By parameter: its spec at the first node that uses it.
std::map<StorageId, const TensorSpec*> specs_of_parameters(const Recording& recording) {
  std::map<StorageId, const TensorSpec*> specs;
  for (const NodeRecord& node : recording.nodes)
    for (const TensorRecord& input : node.inputs)
      if (input.storage != none && input.spec != none)
        specs.try_emplace(input.storage, &recording.specs[static_cast<std::size_t>(input.spec)]);
  return specs;
}

std::map<StorageId, StorageId> gradients_of_parameters(const Recording& recording) {
  std::map<StorageId, StorageId> gradients;
  for (std::size_t i = 0; i < recording.storages.size(); ++i)
    if (recording.storages[i].kind == StorageKind::gradient)
      gradients[recording.storages[i].parameter] = static_cast<StorageId>(i);
  return gradients;
}

}  // namespace

std::vector<ShardedGroup> sharded_groups(const Recording& recording, const ParallelOptions& options,
                                         std::span<const CallRange> passes) {
  const auto specs = specs_of_parameters(recording);
  const auto gradients = gradients_of_parameters(recording);
  std::vector<ShardedGroup> groups;
  for (ParameterGroup& found : parameter_groups(recording, options.wrapped, passes)) {
    ShardedGroup& group = groups.emplace_back();
    group.of = std::move(found);
    group.is_root = groups.size() == 1;
    if (!group.of.parameters.empty()) group.dtype = specs.at(group.of.parameters.front())->dtype;
    group.stored_dtype = options.param_dtype ? options.stored_dtype : group.dtype;
    for (std::size_t i = 0; i < group.of.parameters.size(); ++i) {
      ShardedParameter part{.parameter = group.of.parameters[i], .shard = group.of.shards[i]};
      part.numbers = recording.storages[static_cast<std::size_t>(part.shard)].bytes /
                     element_bytes(group.stored_dtype);
      part.own_numbers = std::clamp<std::int64_t>(
          specs.at(part.parameter)->numel() - options.rank * part.numbers, 0, part.numbers);
      if (const auto gradient = gradients.find(part.parameter); gradient != gradients.end())
        part.gradient = gradient->second;
      group.numbers += part.numbers;
      group.parts.push_back(part);
    }
  }
  return groups;
}

bool is_gradient_of_shard(const Recording& recording, const StorageRecord& storage) {
  return storage.kind == StorageKind::gradient && storage.parameter != none &&
         recording.storages[static_cast<std::size_t>(storage.parameter)].parameter != none;
}

HeldByRank held_by_rank(const Recording& recording, const std::vector<ShardedGroup>& groups) {
  HeldByRank held;
  for (const ShardedGroup& group : groups)
    for (const ShardedParameter& part : group.parts)
      held.parameter_bytes += part.own_numbers * element_bytes(group.stored_dtype);
  const std::set<StorageId> experts = expert_parameters(recording);
  for (const StorageId expert : experts)
    held.parameter_bytes += recording.storages[static_cast<std::size_t>(expert)].bytes;
  for (const StorageRecord& storage : recording.storages) {
    const bool is_of_expert =
        storage.kind == StorageKind::gradient && experts.contains(storage.parameter);
    if (is_of_expert || is_gradient_of_shard(recording, storage))
      held.gradient_bytes += storage.bytes;
    if (storage.kind == StorageKind::optimizer_state) held.optimizer_bytes += storage.bytes;
  }
  return held;
}

}  // namespace symprof::profile

#include "profile/collective_times.h"

#include <algorithm>

namespace symprof::profile {
namespace {

CollectiveKind kind_of(CollectiveOperator op) {
  switch (op) {
    case CollectiveOperator::all_gather:
      return CollectiveKind::all_gather;
    case CollectiveOperator::reduce_scatter:
      return CollectiveKind::reduce_scatter;
    case CollectiveOperator::all_reduce:
      return CollectiveKind::all_reduce;
    case CollectiveOperator::broadcast:
      return CollectiveKind::broadcast;
    case CollectiveOperator::all_to_all:
      return CollectiveKind::all_to_all;
    default:
      return CollectiveKind::send_receive;
  }
}

}  // namespace

int MeshShape::nodes_of(MeshDimension dimension, int ranks) const {
  const int before[] = {shard * tensor, tensor, 1, data * shard * tensor, tensor};
  const int span = ranks * before[static_cast<std::size_t>(dimension)];
  return std::clamp(span / std::max(devices_per_node, 1), 1, std::max(ranks, 1));
}

CollectiveWork work_of(const Collective& collective, const MeshShape& mesh) {
  const auto ranks = static_cast<int>(collective.group_size);
  // Hops of a pipeline are those between its most distant neighbors.
  const bool is_hop = collective.dimension == MeshDimension::pipeline;
  const int spread = mesh.nodes_of(collective.dimension, is_hop ? mesh.pipeline : ranks);
  return {kind_of(collective.op), collective.bytes(), ranks, is_hop ? std::min(spread, 2) : spread};
}

std::vector<CollectiveTime> times_of(std::span<const Collective> collectives,
                                     const CollectiveModel& model, const MeshShape& mesh) {
  std::vector<CollectiveTime> times;
  times.reserve(collectives.size());
  for (const Collective& one : collectives) times.push_back(model.time(work_of(one, mesh)));
  return times;
}

}  // namespace symprof::profile

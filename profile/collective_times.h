// Times of one rank's collectives, for their queue (add_collectives).
#pragma once

#include <span>
#include <vector>

#include "profile/time/collectives/links.h"
#include "record/collective.h"

namespace symprof::profile {

/// Ranks by dimension of the mesh; ordered pipeline, data, shard, tensor, the last one fastest,
/// node by node.
struct MeshShape {
  int pipeline = 1, data = 1, shard = 1, tensor = 1;
  int devices_per_node = 8;

  /// The number of nodes over which the group of `ranks` along `dimension` is evenly spread.
  int nodes_of(MeshDimension dimension, int ranks) const;
};

/// The collective as passed to NCCL. A send and its matching receive are one.
CollectiveWork work_of(const Collective& collective, const MeshShape& mesh);

/// By collective, for the times of a TimedCollective. Throws what CollectiveModel::time throws.
std::vector<CollectiveTime> times_of(std::span<const Collective> collectives,
                                     const CollectiveModel& model, const MeshShape& mesh);

}  // namespace symprof::profile

// How long the collectives of one rank take, for the queue that they run in (add_collectives).
//
// Public header.
#pragma once

#include <span>
#include <vector>

#include "profile/time/collectives/links.h"
#include "record/collective.h"

namespace symprof::profile {

/// Ranks by dimension of the mesh; they lie in the order pipeline, data, shard, tensor, the last
/// one fastest, node by node.
struct MeshShape {
  int pipeline = 1, data = 1, shard = 1, tensor = 1;
  int devices_per_node = 8;

  /// The group of `ranks` along `dimension`: over how many nodes it is spread, evenly.
  int nodes_of(MeshDimension dimension, int ranks) const;
};

/// What NCCL is asked for. A send and the receive of its other side are one.
CollectiveWork work_of(const Collective& collective, const MeshShape& mesh);

/// By collective, in microseconds: `us` of a TimedCollective. Throws what CollectiveModel::time
/// throws.
std::vector<double> times_of(std::span<const Collective> collectives, const CollectiveModel& model,
                             const MeshShape& mesh);

}  // namespace symprof::profile

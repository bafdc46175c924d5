#include "profile/parallel/expert_parameters.h"

namespace symprof::profile {

std::set<StorageId> expert_parameters(const Recording& recording) {
  std::set<StorageId> found;
  for (const NodeRecord& node : recording.nodes)
    if (node.op == "expert_parallel::average")
      found.insert(node.parameters.begin(), node.parameters.end());
  return found;
}

}  // namespace symprof::profile

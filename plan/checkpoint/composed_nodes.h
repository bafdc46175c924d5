// For each call of a composed step: its node, and until when Python may keep its values alive.
//
// A recomputed region is a single node, within which lifetimes are unknown. In other regions each
// node stands alone, and a file may leave lifetimes open (StorageRecord::may_live_until). So
// recomputed regions use the nodes and uncertainties of the fully checkpointed step, other regions
// those of the plain step.
#pragma once

#include <vector>

#include "plan/checkpoint/shared_steps.h"
#include "record/recording.h"

namespace symprof::plan {

/// Nodes are those of the plain step; the last node of a recomputed region stands for all of it.
/// Calls and storages are those of the fully checkpointed step. `again` is by
/// SharedSteps::modules(): true if the module is recomputed.
class ComposedNodes {
 public:
  /// `steps` must be alike (SharedSteps::are_alike).
  explicit ComposedNodes(const SharedSteps& steps);

  struct Uncertainty {
    NodeId may_live_until = none;
    LifetimeUncertainty because = LifetimeUncertainty::none;
    bool end_is_open = false;
  };

  NodeId node(CallId call, const std::vector<bool>& again) const;
  Uncertainty uncertainty(StorageId storage, const std::vector<bool>& again) const;

 private:
  /// The same call in two steps; none where a step does not make it.
  struct CallNodes {
    NodeId plain = none, again = none;
  };
  /// The same storage in two steps. Storages made by recomputation have certain lifetimes.
  struct Uncertainties {
    Uncertainty plain, again;
    NodeId maker = none;  // In the fully checkpointed step.
  };

  void read_nodes(const SharedSteps& steps);
  void read_uncertainties(const SharedSteps& steps);
  bool runs_again(NodeId node_again, const std::vector<bool>& again) const;
  NodeId node_of_plain(NodeId node_again, NodeId in_plain) const;
  NodeId last_of_region(NodeId node_plain, const std::vector<bool>& again) const;

  std::vector<CallNodes> calls_;
  std::vector<Uncertainties> uncertainties_;  // By storage.
  /// By node of the fully checkpointed step: the module that it stands for.
  std::vector<int> modules_;
  /// By the same node: the last plain node that makes one of its forward calls; for nodes without
  /// calls, that of the previous node.
  std::vector<NodeId> plain_of_;
  /// By node of the plain step: the inverse.
  std::vector<NodeId> again_of_;
};

}  // namespace symprof::plan

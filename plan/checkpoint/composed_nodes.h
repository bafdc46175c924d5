// Which node each call of a composed step is part of, and until when Python may hold its values.
//
// A region that runs again is one node, and nobody knows how long the functions inside hold what
// they make; in one that does not, each node is its own, and a file may not tell when its values go
// (StorageRecord::may_live_until). So both are those of the step in which all regions run again for
// regions that do, and of the plain step for the others.
#pragma once

#include <vector>

#include "plan/checkpoint/shared_steps.h"
#include "record/recording.h"

namespace symprof::plan {

/// Nodes are those of the plain step: of a region that runs again, the last one stands for all.
/// Calls and storages are those of the step in which all regions run again. `again` says of each of
/// SharedSteps::modules() whether it runs again.
class ComposedNodes {
 public:
  /// `steps` are alike.
  explicit ComposedNodes(const SharedSteps& steps);

  struct Doubt {
    NodeId may_live_until = none;
    LifetimeDoubt because = LifetimeDoubt::none;
    bool end_is_open = false;
  };

  NodeId node(CallId call, const std::vector<bool>& again) const;
  Doubt doubt(StorageId storage, const std::vector<bool>& again) const;

 private:
  /// The same call in two steps; no node where a step does not make it.
  struct CallNodes {
    NodeId plain = none, again = none;
  };
  /// The same storage in two steps. What is made again alone is in no doubt.
  struct Doubts {
    Doubt plain, again;
    NodeId maker = none;  // In the step in which all regions run again.
  };

  void read_nodes(const SharedSteps& steps);
  void read_doubts(const SharedSteps& steps);
  bool runs_again(NodeId node_again, const std::vector<bool>& again) const;
  NodeId node_of_plain(NodeId node_again, NodeId in_plain) const;
  NodeId last_of_region(NodeId node_plain, const std::vector<bool>& again) const;

  std::vector<CallNodes> calls_;
  std::vector<Doubts> doubts_;  // By storage.
  /// By node of the step in which all regions run again: the module that it stands for.
  std::vector<int> modules_;
  /// By the same: the last node of the plain step that makes one of its calls in the forward pass;
  /// of nodes without calls, that of the node before.
  std::vector<NodeId> plain_of_;
  /// By node of the plain step, the other way around.
  std::vector<NodeId> again_of_;
};

}  // namespace symprof::plan

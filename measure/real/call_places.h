// The node and pass of the currently dispatched operator.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <vector>

#include "measure/measurement.h"

namespace symprof::measure::real {

/// True for an operator of the dispatcher, false for a range of autograd's engine around a node's
/// operators.
bool is_operator(const at::RecordFunction& function);

/// Updated by the step, queried at each operator. Backward may run on autograd's thread while the
/// step's thread waits.
class CallPlaces {
 public:
  struct Place {
    Phase phase = Phase::forward;
    NodeId node = none;
  };

  /// Following operators belong to `phase` and, outside of backward, to `node`.
  void enter(Phase phase, NodeId node);
  /// Autograd nodes created from now on belong to `node`.
  void mark_sequence(NodeId node);
  /// Starts a checkpoint's recompute inside backward: its operators, and the autograd nodes they
  /// create, belong to `node`.
  void begin_recompute(NodeId node);
  void end_recompute();
  /// Forgets the step's autograd nodes.
  void forget_marks() { marks_.clear(); }

  /// The place of an operator that begins on this thread.
  Place now();
  NodeId node() const { return node_; }

 private:
  struct Mark {
    std::uint64_t sequence;
    NodeId node;
  };
  NodeId backward_node();

  std::vector<Mark> marks_;  ///< Ascending in sequence.
  Phase phase_ = Phase::forward;
  NodeId node_ = none;
  NodeId recomputed_ = none;
};

}  // namespace symprof::measure::real

// Which node and which pass an operator belongs to that LibTorch dispatches now.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <vector>

#include "measure/measurement.h"

namespace symprof::measure::real {

/// Whether it is an operator of the dispatcher, and not a range that autograd's engine puts around
/// the operators of one of its nodes.
bool is_operator(const at::RecordFunction& function);

/// Told by the step what comes, asked at each operator. Backward may run on a thread of autograd's
/// engine, while the thread of the step waits for it.
class CallPlaces {
 public:
  struct Place {
    Phase phase = Phase::forward;
    NodeId node = none;
  };

  /// What follows belongs to `phase` and, outside of backward, to `node`.
  void enter(Phase phase, NodeId node);
  /// Autograd's nodes that are made from now on are `node`'s.
  void mark_sequence(NodeId node);
  /// While a checkpoint runs its forward again inside of backward: all of it belongs to `node`, and
  /// so do the autograd nodes that it makes.
  void begin_recompute(NodeId node);
  void end_recompute();
  /// Autograd's nodes of the step are gone.
  void forget_marks() { marks_.clear(); }

  /// Of an operator that begins on this thread.
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

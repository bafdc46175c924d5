// A clock at each operator that LibTorch dispatches, and the node that each belongs to.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <vector>

#include "measure/measurement.h"

namespace symprof::measure::real {

/// Nanoseconds of a clock that never goes back.
std::int64_t now_ns();

/// While it lives, the operators of this thread are timed: each gets the time that none of its own
/// operators took. One at a time on a thread.
class CallClock {
 public:
  explicit CallClock(std::size_t nodes);
  ~CallClock();
  CallClock(const CallClock&) = delete;
  CallClock& operator=(const CallClock&) = delete;

  /// What follows belongs to `phase` and, outside of backward, to `node`.
  void enter(Phase phase, NodeId node);
  /// Autograd's nodes that are made from now on are `node`'s.
  void mark_sequence(NodeId node);
  /// The times since the last call of this, by NodeId; marks are forgotten.
  std::vector<Times> take();

 private:
  struct Open;
  struct Mark {
    std::uint64_t sequence;
    NodeId node;
  };

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function);
  static void end(const at::RecordFunction& function, at::ObserverContext* context);
  NodeId backward_node();

  at::CallbackHandle handle_;
  std::vector<Times> times_;
  std::vector<Mark> marks_;  ///< Ascending in sequence.
  Phase phase_ = Phase::forward;
  NodeId node_ = none;
  Open* innermost_ = nullptr;
};

}  // namespace symprof::measure::real

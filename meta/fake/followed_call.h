// Evaluates a call on tensors with known values again on the host, so that the values of its
// results are known, too: the largest length, a mask, the number of rows that it selects.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <span>

namespace symprof::meta {

/// Turns evaluation of this thread's calls on or off (default: on), off when no result is needed.
void set_following(bool follows);

class FollowedCall {
 public:
  /// Constructed before the call runs, as the call may change its arguments.
  FollowedCall(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments);

  /// Called after the call has run: sets the values of `results`, its fake results. If an operand's
  /// values are unknown, the call is random or its results are large, values that it overwrites are
  /// forgotten, and its results get their known bounds (meta/fake/range_rules.h). Throws
  /// c10::IndexError for indices out of range of a tensor with known values.
  void finish(std::span<const c10::IValue> results);

 private:
  enum class Reads { values, geometry };
  at::Tensor operand(const at::Tensor& tensor, Reads reads);
  bool has_work(std::span<const c10::IValue> results) const;
  bool run();
  void keep(std::span<const c10::IValue> results) const;
  bool counts_elements() const;
  void assume(std::span<const c10::IValue> results) const;
  void forget_written() const;

  const c10::OperatorHandle& op_;
  std::span<const c10::IValue> arguments_;
  Reads reads_;
  bool is_known_;
  bool rests_on_assumption_ = false;  // An operand's values are assumed.
  torch::jit::Stack stack_;           // Real operands; after run() real results.
};

}  // namespace symprof::meta

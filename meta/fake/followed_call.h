// A call on tensors whose values are known runs once more, on the host, so that the values of its
// results are known as well: the largest length, a mask, the number of rows that it keeps.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <span>

namespace symprof::meta {

/// Whether calls of this thread are followed. They are, until somebody knows that nothing asks for
/// what they make.
void set_following(bool follows);

class FollowedCall {
 public:
  /// Before the call runs: it may change what it is given.
  FollowedCall(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments);

  /// After it has run: gives `results`, its fake results, their values. Where some operand's values
  /// are not known, the call is random or its results are many, what it writes is forgotten, and
  /// its results have the bounds that are known (meta/fake/range_rules.h). Throws c10::IndexError
  /// for values that are no places in a tensor of known values.
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
  bool rests_on_assumption_ = false;  // Some operand's values are assumed.
  torch::jit::Stack stack_;           // Operands with data, and after run() results.
};

}  // namespace symprof::meta

// Tensors of which a size is an upper bound (the rows that nonzero gives of unknown data), and what
// is computed from them: on a device they may have one element.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <span>

namespace symprof::meta {

/// The kernel that runs takes an upper bound for a size.
void take_upper_bound();

/// Of one call.
class UpperBoundSizes {
 public:
  UpperBoundSizes();
  void note_input(const at::Tensor& tensor);
  /// Marks what the call made, if an input is marked or the kernel took an upper bound.
  void mark(const c10::OperatorHandle& op, std::span<const c10::IValue> results) const;

 private:
  bool of_input_ = false;
};

}  // namespace symprof::meta

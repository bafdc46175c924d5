// Tracks tensors with a size that is an upper bound (the rows of nonzero on unknown data), and
// tensors computed from them: on a device they may have one element.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <span>

namespace symprof::meta {

/// The current kernel uses an upper bound for a size.
void take_upper_bound();

/// Tracks one call.
class UpperBoundSizes {
 public:
  UpperBoundSizes();
  void note_input(const at::Tensor& tensor);
  /// Marks the call's results if an input is marked or the kernel used an upper bound.
  void mark(const c10::OperatorHandle& op, std::span<const c10::IValue> results) const;

 private:
  bool of_input_ = false;
};

}  // namespace symprof::meta

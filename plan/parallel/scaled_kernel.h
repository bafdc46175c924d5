// A kernel with another number of samples, on a share of a tensor-parallel group.
#pragma once

#include "base/tensor_spec.h"
#include "profile/time/kernel.h"

namespace symprof::plan {

struct KernelScale {
  double samples = 1;  ///< By those that the kernel was recorded with.
  double share = 1;    ///< Of heads, features or tokens, at most 1.
  /// Of the linear layer that the kernel belongs to; null: of none.
  const TensorSpec* weight = nullptr;
  bool splits_outputs = true;  ///< The weight's first dimension is split, else its second.
  /// [experts, …, …], of the grouped product that the kernel belongs to; null: of none.
  const TensorSpec* experts = nullptr;
  int expert_ranks = 1;  ///< They share the experts, and the rows of all of them.
};

/// Sizes are rounded, to 1 at least.
profile::Kernel scaled(const profile::Kernel& kernel, const KernelScale& scale);

}  // namespace symprof::plan

// A kernel rescaled to another number of samples and a share of a tensor-parallel group.
#pragma once

#include "base/tensor_spec.h"
#include "profile/time/kernel.h"

namespace symprof::plan {

struct KernelScale {
  double samples = 1;  ///< As a multiple of the recorded samples.
  double share = 1;    ///< Of heads, features or tokens, at most 1.
  /// The weight of the kernel's linear layer; null: none.
  const TensorSpec* weight = nullptr;
  bool splits_outputs = true;  ///< The weight's first dimension is split, else its second.
  /// The [experts, …, …] weight of the kernel's grouped product; null: none.
  const TensorSpec* experts = nullptr;
  int expert_ranks = 1;  ///< Ranks that share the experts and all their rows.
};

/// Sizes are rounded, and at least 1.
profile::Kernel scaled(const profile::Kernel& kernel, const KernelScale& scale);

}  // namespace symprof::plan

// Reductions with few outputs are split over thread blocks that combine partial results in global
// memory (aten/src/ATen/native/cuda/Reduce.cuh).
#pragma once

#include <vector>

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

struct Reduction {
  TensorSpec input;
  std::vector<bool> is_reduced;  ///< By dimension of the input.
  DType output = DType::float32;
  std::int64_t accumulator_bytes = 4;
  /// Tensors with offsets beyond 32 bits are reduced in pieces, accumulated in the output unless it
  /// cannot hold an accumulator.
  bool accumulates_in_output = true;
};

/// The sum of `input` over these dimensions, in its dtype.
Reduction sum_of(const TensorSpec& input, std::vector<bool> is_reduced);

/// All dimensions of `tensor`, each reduced.
std::vector<bool> all_dimensions(const TensorSpec& tensor);
/// The lowest and the highest number of `input` (aten/src/ATen/native/cuda/ReduceMinMaxKernel.cu,
/// aminmax_allreduce_kernel_impl).
Reduction extrema_of(const TensorSpec& input);
/// any() or all() of `mask` along these dimensions.
Reduction truth_of(const TensorSpec& mask, std::vector<bool> is_reduced);

/// Adds the blocks of the reduction, freed when it is done.
void add_reduction(Scratch& scratch, const Reduction& reduction, const DeviceSpec& device);

}  // namespace symprof::profile

// Reductions with few outputs are split over blocks of threads, which meet in global memory
// (aten/src/ATen/native/cuda/Reduce.cuh).
#pragma once

#include <vector>

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

struct Reduction {
  TensorSpec input;
  std::vector<bool> is_reduced;  ///< By dimension of the input.
  DType output = DType::float32;
  std::int64_t accumulator_bytes = 4;
  /// More than 32 bits of offset are reduced in pieces; they meet in the output, unless that cannot
  /// hold an accumulator.
  bool accumulates_in_output = true;
};

/// The sum of `input` over these dimensions, in its own type.
Reduction sum_of(const TensorSpec& input, std::vector<bool> is_reduced);

/// Dimensions of `tensor`, each of which is reduced.
std::vector<bool> all_dimensions(const TensorSpec& tensor);
/// The lowest and the highest number of `input` (aten/src/ATen/native/cuda/ReduceMinMaxKernel.cu,
/// aminmax_allreduce_kernel_impl).
Reduction extrema_of(const TensorSpec& input);
/// Whether any or all of `mask` are true, along these dimensions.
Reduction truth_of(const TensorSpec& mask, std::vector<bool> is_reduced);

/// Adds the blocks that the reduction takes, and gives back when it is done.
void add_reduction(Scratch& scratch, const Reduction& reduction, const DeviceSpec& device);

}  // namespace symprof::profile

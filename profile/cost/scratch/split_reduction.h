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
/// Of all of `input`: the lowest and the highest number (aten/src/ATen/native/cuda/
/// ReduceMinMaxKernel.cu, aminmax_allreduce_kernel_impl).
Reduction extrema_of(const TensorSpec& input);
/// Of these dimensions of `mask`: whether any or all are true.
Reduction truth_of(const TensorSpec& mask, std::vector<bool> is_reduced);

/// That a multiprocessor holds at once (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
std::int64_t threads_of_multiprocessor(const DeviceSpec& device);

/// What the reduction takes, and gives back when it is done.
void add_reduction(Scratch& scratch, const Reduction& reduction, const DeviceSpec& device);

}  // namespace symprof::profile

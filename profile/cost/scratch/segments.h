// What kernels that reduce segments want to know of the segments
// (aten/src/ATen/native/cuda/SegmentReduce.cu).
#pragma once

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// Whether one of the two says what the segments are; either may be null.
bool has_segments(const TensorSpec* lengths, const TensorSpec* offsets);

/// The kernels want both lengths and offsets: lengths are summed up after a zero, of offsets the
/// differences are taken.
void add_offsets(Scratch& scratch, const TensorSpec* lengths, const TensorSpec* offsets);

}  // namespace symprof::profile

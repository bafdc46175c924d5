// Segment metadata of the segment-reduction kernels (aten/src/ATen/native/cuda/SegmentReduce.cu).
#pragma once

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// True if lengths or offsets are given; either may be null.
bool has_segments(const TensorSpec* lengths, const TensorSpec* offsets);

/// The kernels need both lengths and offsets: offsets are the cumulative sum of lengths after a
/// zero, lengths the differences of offsets.
void add_offsets(Scratch& scratch, const TensorSpec* lengths, const TensorSpec* offsets);

}  // namespace symprof::profile

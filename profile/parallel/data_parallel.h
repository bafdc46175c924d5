// A step under DistributedDataParallel: torch/nn/parallel/distributed.py and
// torch/csrc/distributed/c10d/reducer.cpp of PyTorch 2.13.
#pragma once

#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// The model is broadcast from the first rank, gradients are reduced in buckets. Not simulated: the
/// broadcast of buffers before each forward pass.
Recording data_parallel_step(Recording recording, const ParallelOptions& options);

}  // namespace symprof::profile

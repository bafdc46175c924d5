// A step of one rank of a pipeline: torch/distributed/pipelining of PyTorch 2.13.
#pragma once

#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// `recording` is of one microbatch, all stages of the rank one after the other
/// (trace/passes/pipeline_stages.h), with an update. The answer has all microbatches, in the order
/// of the schedule. Throws Error for a schedule that is not simulated.
Recording pipeline_step(Recording recording, const ParallelOptions& options);

}  // namespace symprof::profile

// A step of one rank of a pipeline: torch/distributed/pipelining of PyTorch 2.13.
#pragma once

#include <string_view>

#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// Divides a gradient by the number of microbatches, in place, at the schedule's end.
inline constexpr std::string_view scales_gradients = "aten::div_";

/// `recording`: one microbatch, all stages of the rank in sequence
/// (trace/passes/pipeline_stages.h), with an update. The result has all microbatches, in the order
/// of the schedule. Throws Error for a schedule that is not simulated.
Recording pipeline_step(Recording recording, const ParallelOptions& options);

}  // namespace symprof::profile

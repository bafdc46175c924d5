// A step under FSDP2: torch/distributed/fsdp/_fully_shard of PyTorch 2.13, on one rank.
#pragma once

#include <span>

#include "base/device_spec.h"
#include "profile/parallel/wrapped_groups.h"
#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// `recording` is of the whole model, in the dtype in which it computes, with an update of shards
/// (StepOptions::sharded_update). `passes`: if it is already a pipeline rank's recording, the
/// passes of its microbatches, of one stage. Throws Error if a parameter is in no wrapped module.
Recording fully_sharded_step(Recording recording, const ParallelOptions& options,
                             const DeviceSpec& device, std::span<const CallRange> passes = {});

}  // namespace symprof::profile

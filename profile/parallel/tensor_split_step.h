// A step under tensor parallelism: its graph already has the rank's share of each layer
// (trace/passes/tensor_parallel.h), and its collectives are calls.
#pragma once

#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// Lists the calls that are collectives. Parameters that see only a share of the tokens have
/// partial gradients, which the update sums over the ranks at each read.
Recording tensor_split_step(Recording recording, const ParallelOptions& options);

}  // namespace symprof::profile

// A step under tensor parallelism: its graph has the rank's share of each layer already
// (trace/passes/tensor_parallel.h), and its collectives are calls.
#pragma once

#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// Lists the calls that are collectives. Parameters that work on a share of the tokens have
/// gradients that are parts of sums: the update sums them over the ranks wherever it reads them.
Recording tensor_split_step(Recording recording, const ParallelOptions& options);

}  // namespace symprof::profile

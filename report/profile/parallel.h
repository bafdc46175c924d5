// A step on several ranks: the rank's persistent memory and its messages.
#pragma once

#include <string>

#include "record/recording.h"
#include "record/step_options.h"
#include "report/write/json_writer.h"

namespace symprof::report {

/// The object "parallel". `recording` has a rank, `options` have its engine.
void write_parallel(JsonWriter& json, const Recording& recording, const ParallelOptions& options);

/// "fsdp=8, 8 ranks: 9 all_gather, 5 reduce_scatter; 1.20 GiB sent or received".
std::string parallel_text(const Recording& recording, const ParallelOptions& options,
                          const std::string& bytes);

/// "parameters 49.00 MiB, gradients …": memory that the rank keeps between steps.
std::string held_by_rank_text(const HeldByRank& held);

}  // namespace symprof::report

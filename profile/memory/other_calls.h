// Tells if the calls of a step may differ from those of the model's own code.
#pragma once

#include <cstdint>

#include "profile/memory/peak_bounds.h"
#include "record/recording.h"

namespace symprof::profile {

OtherCalls other_calls(const Recording& recording);

/// Margin to add to `peak_bytes`, the peak of the recorded step (PeakUncertainty::peak_bytes), if
/// the step may save other tensors than the model's: a quarter of the peak without parameters,
/// buffers and optimizer states. It sufficed in 79 of 83 steps of 28 models
/// (docs/evaluation/foreign_held_out.md), on which it was chosen, and in 131 of 136 of other models
/// (docs/evaluation/foreign.md).
std::int64_t other_calls_margin_bytes(const Recording& recording, std::int64_t peak_bytes);

}  // namespace symprof::profile

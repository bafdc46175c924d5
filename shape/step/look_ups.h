// Look-ups known to be out of range.
#pragma once

#include "record/recording.h"

namespace symprof::shape {

/// Throws Error for the first embedding of the forward pass that is indexed with more distinct rows
/// than it has. Checks only positions from arange and their views, copies and shifts: other indices
/// have no known values.
void check_look_ups(const Recording& recording);

}  // namespace symprof::shape

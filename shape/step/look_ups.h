// Look-ups that are known to run past their table.
#pragma once

#include "record/recording.h"

namespace symprof::shape {

/// Throws Error for the first embedding of the forward pass that is asked for more different rows
/// than it has. Only positions that arange counts are checked, and what shows, copies or shifts
/// them: other indices have no values here.
void check_look_ups(const Recording& recording);

}  // namespace symprof::shape

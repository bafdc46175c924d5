// Look-ups that are known to run past their table.
#pragma once

#include "record/recording.h"

namespace symprof::shape {

/// Throws Error for the first embedding of the forward pass that is asked for more different rows
/// than it has: of positions that arange counts, and of what shows, copies or shifts them. Other
/// indices have no values here, and are not checked.
void check_look_ups(const Recording& recording);

}  // namespace symprof::shape

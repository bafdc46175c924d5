// Lifetime uncertainty: how much higher a step's peak may be, if a file does not show how long
// Python keeps values alive.
#pragma once

#include "profile/memory/peak_bounds.h"
#include "record/recording.h"

namespace symprof::profile {

/// Replays the step's allocations three times, in blocks of 512 bytes: as recorded; with each block
/// freed as late as possible (StorageRecord::may_live_until), at the latest at the end of the
/// forward pass; and with blocks of open lifetime never freed (StorageRecord::end_is_open).
PeakUncertainty peak_uncertainty(const Recording& recording);

}  // namespace symprof::profile

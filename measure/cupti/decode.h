// Decodes CUPTI's activity records.
#pragma once

#include "measure/cupti/records.h"

namespace symprof::measure::cupti {

/// Adds the activity record at `record` (CUpti_Activity of cupti_activity.h) to `records`. Unneeded
/// kinds are skipped. The fields read here have the same offsets in CUPTI 12 and 13.
void decode(const void* record, Records& records);

}  // namespace symprof::measure::cupti

// CUPTI's activity records, one after the other.
#pragma once

#include "measure/cupti/records.h"

namespace symprof::measure::cupti {

/// Adds the activity record at `record` (CUpti_Activity of cupti_activity.h) to `records`. Kinds
/// that nobody asked for are left out. Records of CUPTI 12 and 13 have the same fields in the same
/// places as far as they are read here.
void decode(const void* record, Records& records);

}  // namespace symprof::measure::cupti

// Links events by nesting in time and by correlation ids.
#pragma once

#include "measure/kineto/events.h"

namespace symprof::measure::kineto {

/// Nests operators, sets their phases, and assigns each activity its operator.
Trace tie(Events events, const std::string& path);

}  // namespace symprof::measure::kineto

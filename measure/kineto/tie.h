// Events that belong together, by nesting in time and by correlation ids.
#pragma once

#include "measure/kineto/events.h"

namespace symprof::measure::kineto {

/// Nests operators, says in which phase each runs, and gives each activity its operator.
Trace tie(Events events, const std::string& path);

}  // namespace symprof::measure::kineto

// The allocator's settings of a measured history, and those that would explain its segments better
// than the prediction's.
#pragma once

#include <fmt/format.h>

#include "report/write/json_writer.h"
#include "report/write/layout.h"
#include "session/memory_snapshot.h"

namespace symprof::report {

/// The lines "settings" and "tried", where there is something to say.
void write_settings(fmt::memory_buffer& out, const MeasuredMemory& both, const Layout& layout);

/// The members "alloc_conf" and "tried".
void write_settings(JsonWriter& json, const MeasuredMemory& both);

}  // namespace symprof::report

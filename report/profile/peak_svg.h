// Memory at the peak by owner, drawn.
#pragma once

#include <fmt/format.h>

#include "report/profile/peak_owners.h"

namespace symprof::report {

/// An SVG element: a bar for each row of `peak_rows`, with the categories side by side. Nothing of
/// it needs another file.
void write_peak_svg(fmt::memory_buffer& out, const StepMemory& memory, const Recording& recording,
                    const PeakTableOptions& options);

}  // namespace symprof::report

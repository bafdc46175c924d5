// The fitted classes of a calibration, as a table.
#pragma once

#include <fmt/format.h>

#include "report/write/layout.h"
#include "session/calibrate.h"

namespace symprof::report {

/// A row for each class of kernels, and which have too few measurements.
void write_calibration(fmt::memory_buffer& out, const CalibratedDevice& device,
                       const measure::DeviceFacts& facts, const Layout& layout);

}  // namespace symprof::report

// The fitted classes of a calibration, as a table.
#pragma once

#include <fmt/format.h>

#include "report/write/layout.h"
#include "session/calibrate.h"
#include "session/traced_kernels.h"

namespace symprof::report {

/// A row for each class of kernels, and which have too few measurements.
void write_calibration(fmt::memory_buffer& out, const CalibratedDevice& device,
                       const measure::DeviceFacts& facts, const Layout& layout);

/// Which part of the traced time the fit knows, and why not the rest.
void write_traced_time(fmt::memory_buffer& out, const TracedKernels& traced);

}  // namespace symprof::report

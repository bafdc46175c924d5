// The result of symprof optimize, as a table, as the lines of comparable tools, as JSON.
#pragma once

#include <fmt/format.h>

#include <string>

#include "session/onnx/optimize.h"

namespace symprof::report {

/// `file`: where the optimized model is.
void write_optimize_table(fmt::memory_buffer& out, const OptimizeAnswer& answer,
                          const std::string& file);
/// "STAT apply_P +added -removed #it=looks maxmatch=most i=times - time=seconds", a line for each
/// rule that was applied, as the pattern optimizer of experimental-experiment prints them.
void write_optimize_stat(fmt::memory_buffer& out, const OptimizeAnswer& answer);
void write_optimize_json(fmt::memory_buffer& out, const OptimizeAnswer& answer,
                         const std::string& file);

}  // namespace symprof::report

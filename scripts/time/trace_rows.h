// The kernels of a trace of torch.profiler, beside a device's estimates.
#pragma once

#include <ostream>
#include <string>

namespace symprof {

/// Prints a row for each kernel that `symprof calibrate --from` would fit. `device`: a shipped name
/// or a file. Throws Error as kernels_of_traces.
void print_trace_rows(const std::string& device, const std::string& trace, std::ostream& out);

}  // namespace symprof

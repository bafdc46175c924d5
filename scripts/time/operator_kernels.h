// Which kernels the program says that recorded ATen calls launch.
#pragma once

#include <iosfwd>
#include <string>

#include "base/device_spec.h"

namespace symprof::profile {

/// `path`: a document of truth/h200/record_calls.py, uncompressed. Prints an array with an element
/// for each of its calls: {"class", "launches", "work"} of each kernel, with the columns of
/// work_columns.h, or null where the call's time is not known. Throws Error where the file cannot
/// be read or an operand has no such dtype.
void print_kernels(const DeviceSpec& device, const std::string& path, std::ostream& out);

}  // namespace symprof::profile

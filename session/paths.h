// Paths of the program's parts, relative to the library with this code.
#pragma once

#include <string>

namespace symprof {

/// share/symprof/devices in the library's installation, or the source tree's folder for a build.
std::string devices_folder();

/// The file with coefficients of kernel times for devices that were not measured.
std::string data_sheet_path();

/// libsymprof_torch.so, beside the library.
std::string torch_library_path();

}  // namespace symprof

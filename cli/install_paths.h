// Where the parts of the program are, relative to its executable.
#pragma once

#include <string>

namespace symprof::cli {

/// share/symprof/devices beside the folder of the executable, or the source tree's for a build.
std::string devices_folder();

/// libsymprof_torch.so, in the folder of the library that this program is linked to.
std::string torch_library_path();

}  // namespace symprof::cli

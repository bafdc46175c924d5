// Where the parts of the program are, relative to the library that this is in.
#pragma once

#include <string>

namespace symprof {

/// share/symprof/devices below a folder that the library lies in, or the source tree's for a build.
std::string devices_folder();

/// libsymprof_torch.so, beside the library.
std::string torch_library_path();

}  // namespace symprof

// The folder of the library with this code: the program's other parts lie relative to it.
#pragma once

#include <filesystem>

namespace symprof {

/// Empty where the loader does not know it.
std::filesystem::path library_folder();

}  // namespace symprof

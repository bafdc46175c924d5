// Files of Python below the folders that the user gives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/python/source/python_file.h"

namespace symprof::trace {

/// Reads the Python file `path` from the first of `folders` that has it: below the folder at the
/// whole path, or at the path without some of its first components. Empty if no folder has it, or
/// if the path leads out of the folder. The file is only read, never run.
std::optional<PythonFile> read_python(const std::vector<std::string>& folders,
                                      std::string_view path);

}  // namespace symprof::trace

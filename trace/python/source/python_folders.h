// Files of Python below the folders that the user gives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/python/source/python_file.h"

namespace symprof::trace {

/// The file that lies below one of `folders`: all of `path`, or what is left of it without its
/// first folders. The first folder that has it gives it. Empty where none has, and for a path that
/// leads out of the folders. Nothing in it is run.
std::optional<PythonFile> read_python(const std::vector<std::string>& folders,
                                      std::string_view path);

}  // namespace symprof::trace

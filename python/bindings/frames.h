// Where the program's own Python code is.
#pragma once

#include <string>
#include <vector>

namespace symprof::python {

/// Skips frames whose file lies in one of these folders.
void set_library_folders(std::vector<std::string> folders);

/// "train.py:42": the innermost frame that lies in no library's folder; empty without one. Takes
/// the interpreter's lock.
std::string place_of_program();

}  // namespace symprof::python

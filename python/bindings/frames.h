// Finds the line of the program's own Python code.
#pragma once

#include <string>
#include <vector>

namespace symprof::python {

/// Sets the library folders, whose frames are skipped.
void set_library_folders(std::vector<std::string> folders);

/// "train.py:42": the innermost frame outside of library folders; empty if there is none. Acquires
/// the GIL.
std::string place_of_program();

}  // namespace symprof::python

// Several arrays in one file, as numpy.savez writes them (.npz).
#pragma once

#include <map>
#include <string>

#include "trace/numpy/array_file.h"

namespace symprof::trace::numpy {

/// Reads all arrays of an archive, packed or not, by name. Throws Error for a file that is no zip
/// archive, and for what read_array throws.
std::map<std::string, Array> read_arrays(const std::string& path, std::int64_t most_elements);

/// Writes an archive without packing, under a temporary name that then becomes `path`. Throws Error
/// where that fails, and for a dtype that numpy has not.
void write_arrays(const std::map<std::string, Array>& arrays, const std::string& path);

}  // namespace symprof::trace::numpy

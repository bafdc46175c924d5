// Several arrays in one file, as numpy.savez writes them (.npz).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/numpy/array_file.h"

namespace symprof::trace::numpy {

/// Reads all arrays of an archive, packed or not, by name. Throws Error for a file that is no zip
/// archive, and for what read_array throws.
std::map<std::string, Array> read_arrays(const std::string& path, std::int64_t most_elements);

/// The bytes of an archive of files as file_bytes() gives them, by name, not packed; the same bytes
/// each time. Throws Error where libzip cannot make them.
std::string archive_bytes(const std::vector<std::pair<std::string, std::string>>& files);

/// Writes such an archive, under a temporary name that then becomes `path`. Throws Error
/// where that fails, and for a dtype that numpy has not.
void write_arrays(const std::map<std::string, Array>& arrays, const std::string& path);

}  // namespace symprof::trace::numpy

// Atomic file writes: a file is complete or absent.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace symprof {

/// Writes all of `text`; false with errno set on failure.
bool write_all(int descriptor, std::string_view text);

/// Writes a temporary file next to `path` and renames it to `path`, with the usual permissions. On
/// failure no file remains, and the error is returned.
std::error_code write_whole_file(const std::string& path, std::string_view text);

}  // namespace symprof

// Files that are complete or not there.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace symprof {

/// Writes all of `text`; false with errno set where that is not possible.
bool write_all(int descriptor, std::string_view text);

/// Writes a temporary file beside `path` that then takes its name, with the usual permissions.
/// Where that is not possible nothing stays, and the error says why.
std::error_code write_whole_file(const std::string& path, std::string_view text);

}  // namespace symprof

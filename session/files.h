// Files that verbs make: complete or not there.
#pragma once

#include <string>
#include <string_view>

namespace symprof {

/// Through a temporary file beside the wanted one, which then takes its name; links stay, and
/// devices and pipes are written into. Throws Error about `path`.
void write_file(const std::string& path, std::string_view text);

}  // namespace symprof

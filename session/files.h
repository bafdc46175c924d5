// Writes files of verbs, complete or not at all.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace symprof {

/// Through a temporary file beside the wanted one, which then takes its name; links stay, and
/// devices and pipes are written into. Throws Error about `path`.
void write_file(const std::string& path, std::string_view text);

/// Files by name and bytes, into a new folder that takes its name once all are in it; a single one
/// without a name becomes `path` itself. Throws Error, also where the folder is there already.
void write_files(const std::string& path,
                 const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace symprof

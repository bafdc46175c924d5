#include "trace/exported/program_path.h"

#include <filesystem>

namespace symprof::trace::exported {

ProgramPath program_path(const std::string& path) {
  std::error_code code;
  const std::size_t colon = path.rfind(':');
  if (colon == std::string::npos || std::filesystem::exists(path, code)) return {path, {}};
  std::string file = path.substr(0, colon);
  if (!std::filesystem::is_regular_file(file, code)) return {path, {}};
  return {std::move(file), path.substr(colon + 1)};
}

}  // namespace symprof::trace::exported

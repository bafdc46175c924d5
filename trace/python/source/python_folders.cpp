#include "trace/python/source/python_folders.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace symprof::trace {
namespace {

constexpr std::uintmax_t most_bytes = 16 << 20;

std::optional<std::filesystem::path> find_below(const std::string& folder, std::string_view path) {
  for (std::size_t at = 0; at != std::string_view::npos; at = path.find('/', at)) {
    while (at < path.size() && path[at] == '/') ++at;
    std::filesystem::path file = std::filesystem::path(folder) / path.substr(at);
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error) &&
        std::filesystem::file_size(file, error) <= most_bytes)
      return file;
  }
  return std::nullopt;
}

std::optional<PythonFile> read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return PythonFile(text);
}

}  // namespace

std::optional<PythonFile> read_python(const std::vector<std::string>& folders,
                                      std::string_view path) {
  if (path.find("..") != std::string_view::npos) return std::nullopt;
  for (const std::string& folder : folders)
    if (const auto found = find_below(folder, path))
      if (auto file = read_file(*found)) return file;
  return std::nullopt;
}

}  // namespace symprof::trace

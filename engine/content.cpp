#include "engine/content.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace symprof::engine {
namespace {

constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30;

}  // namespace

std::string content_of_file(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code))
    throw Error(path, "there is no such file", wanted_files);
  if (!std::filesystem::is_regular_file(path, code))
    throw Error(path, "is no regular file", wanted_files);
  if (std::filesystem::file_size(path, code) > largest_file)
    throw Error(path, "is larger than any list of layers", wanted_files);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path, "cannot be read", "Check the permissions of the file.");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace symprof::engine

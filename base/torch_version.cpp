#include "base/torch_version.h"

#include <fstream>

#include "base/library_folder.h"

namespace symprof {
namespace {

constexpr std::int64_t tested_minor = 13;

std::int64_t minor_of_file() {
  std::ifstream file(library_folder() / "symprof_torch_version.txt");
  std::int64_t major = 0, minor = 0;
  char point = 0;
  return file >> major >> point >> minor ? minor : tested_minor;
}

}  // namespace

std::int64_t torch_minor() {
  static const std::int64_t minor = minor_of_file();
  return minor;
}

}  // namespace symprof

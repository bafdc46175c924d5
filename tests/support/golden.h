// Compares a text with tests/golden/<name>; SYMPROF_REWRITE_GOLDEN=1 writes the file instead.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace symprof::test {

inline void check_golden(const std::string& name, std::string_view text) {
  const std::string path = std::string(SYMPROF_SOURCE_DIR) + "/tests/golden/" + name;
  if (const char* rewrite = std::getenv("SYMPROF_REWRITE_GOLDEN"); rewrite && *rewrite == '1') {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  INFO("golden file: " << name);
  CHECK(std::string(text) == expected);
}

}  // namespace symprof::test

// Compares a report of a profile made by hand with its page, tests/golden/report/<name>.txt; with
// SYMPROF_REWRITE_GOLDEN=1 writes the page instead. tests/golden/README.md has the form of a page.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/source_folder.h"

namespace symprof::test {

/// Compares `text` with a file of the repository, or writes it there.
inline void check_file(const std::string& path, const std::string& text) {
  if (const char* rewrite = std::getenv("SYMPROF_REWRITE_GOLDEN"); rewrite && *rewrite == '1') {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  INFO("golden page: " << path);
  CHECK(text == expected);
}

/// `made_of` says on the page what `text` is.
inline void check_golden(const std::string& name, const std::string& made_of,
                         const std::string& text) {
  check_file(test::source_folder() + "/tests/golden/report/" + name + ".txt",
             "# made of: " + made_of + "\n----\n" + text);
}

}  // namespace symprof::test

// Where the repository lies, for tests that read its files.
#pragma once

#include <string>

namespace symprof::test {

/// Of one file alone, so that the other tests compile to the same in every clone, and the
/// compiler's cache serves them all.
std::string source_folder();

}  // namespace symprof::test

#include "tests/support/source_folder.h"

namespace symprof::test {

std::string source_folder() { return SYMPROF_SOURCE_DIR; }

}  // namespace symprof::test

// The members of the unions of torch.export's schema (torch/_export/serde/schema.py), as
// truth/schema_kinds/record.py wrote them.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_folder.h"

namespace symprof::test {

inline nlohmann::json schema_kinds() {
  std::ifstream file(test::source_folder() + "/truth/schema_kinds/schema_kinds.json");
  return nlohmann::json::parse(file);
}

}  // namespace symprof::test

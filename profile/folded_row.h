// A row that several nodes were folded into.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace symprof::profile {

struct FoldedRow {
  std::string kind;  ///< As torch.fx prints it: placeholder, call_module, call_function, output.
  std::string name;
  std::string module;  ///< Path; empty at the root and where rows are operators.
  RowFigures figures;
  std::vector<NodeId> nodes;  ///< In the order in which they ran.
};

}  // namespace symprof::profile

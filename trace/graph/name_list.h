// Names in a sentence.
#pragma once

#include <string>
#include <vector>

namespace symprof::trace {

/// "a", "a, b, c", or "a, b, c and 7 more".
std::string list_names(const std::vector<std::string>& names);

}  // namespace symprof::trace

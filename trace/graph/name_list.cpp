#include "trace/graph/name_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace symprof::trace {

std::string list_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
}

}  // namespace symprof::trace

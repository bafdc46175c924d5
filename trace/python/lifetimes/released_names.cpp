#include "trace/python/lifetimes/released_names.h"

#include <algorithm>

namespace symprof::trace {

GeneratedLine parse_generated_line(std::string_view line) {
  constexpr std::string_view begin = ";  ", end = " = None", between = " = ";
  const std::size_t semicolon = line.rfind(begin);
  if (semicolon == std::string_view::npos || !line.ends_with(end)) return {.statement = line};
  std::string_view names = line.substr(semicolon + begin.size());
  names.remove_suffix(end.size());
  GeneratedLine parsed{.statement = line.substr(0, semicolon)};
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t next = std::min(names.find(between, at), names.size());
    parsed.released.push_back(names.substr(at, next - at));
    at = next + between.size();
  }
  return parsed;
}

}  // namespace symprof::trace

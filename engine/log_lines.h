// Lines of a log, and their prefixes.
#pragma once

#include <cstddef>
#include <string_view>

namespace symprof::engine {

/// Calls `visit(line, number)` for every line, numbers counted from 1, without line ends.
template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  std::size_t number = 1;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line, number++);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// Without "[08/20/2024-19:31:30] [V] [TRT] " before it.
std::string_view without_log_prefix(std::string_view line);

/// True if `content` is JSON and not a log, whose lines also begin with a bracket.
bool looks_like_json(std::string_view content);

}  // namespace symprof::engine

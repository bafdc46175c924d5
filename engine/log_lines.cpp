#include "engine/log_lines.h"

#include "base/text.h"

namespace symprof::engine {

std::string_view without_log_prefix(std::string_view line) {
  // "[08/20/2024-19:31:30] [V] [TRT] "; keeps a bracketed word that begins a name.
  const auto skip = [&](auto&& is_mark) {
    const std::size_t end = line.find("] ");
    if (!line.starts_with('[') || end == std::string_view::npos ||
        !is_mark(line.substr(1, end - 1)))
      return;
    line.remove_prefix(end + 2);
  };
  const std::string_view whole = line;
  skip([](std::string_view mark) {
    return !mark.empty() && is_digit(mark.front()) && mark.find(':') != std::string_view::npos;
  });
  if (line.size() == whole.size() && !line.starts_with("[TRT] ") && !line.starts_with("[I] ") &&
      !line.starts_with("[V] "))
    return line;
  for (int i = 0; i < 2; ++i)
    skip([](std::string_view mark) { return mark == "TRT" || mark.size() == 1; });
  return line;
}

bool looks_like_json(std::string_view content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) return false;
  if (content[first] == '{') return true;
  const std::size_t second = content.find_first_not_of(" \t\r\n", first + 1);
  return content[first] == '[' && second != std::string_view::npos &&
         std::string_view("{\"[]").find(content[second]) != std::string_view::npos;
}

}  // namespace symprof::engine

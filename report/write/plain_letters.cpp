#include "report/write/plain_letters.h"

#include <utility>

namespace symprof::report {

std::string in_plain_letters(std::string_view text) {
  constexpr std::pair<std::string_view, char> signs[] = {
      {"─", '-'}, {"≤", '<'}, {"…", '~'}, {"·", '*'}, {"−", '-'}, {"×", 'x'}, {"µ", 'u'}};
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = 1;
    char letter = text.front();
    for (const auto& [sign, instead] : signs)
      if (text.starts_with(sign)) {
        length = sign.size();
        letter = instead;
      }
    plain += letter;
    text.remove_prefix(length);
  }
  return plain;
}

}  // namespace symprof::report

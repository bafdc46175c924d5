// Character-wise text parsing, independent of the locale.
#pragma once

#include <string_view>

namespace symprof {

constexpr bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// True for characters of Python names: an ASCII letter, a digit or an underscore.
constexpr bool is_word(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         letter == '_';
}

/// `text` without surrounding spaces, tabs and line ends.
constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace symprof

#include "record/module_path.h"

#include "base/text.h"

namespace symprof {

std::string without_numbers(std::string_view path) {
  std::string pattern;
  for (const char letter : path) {
    if (!is_digit(letter))
      pattern += letter;
    else if (!pattern.ends_with('*'))
      pattern += '*';
  }
  return pattern;
}

}  // namespace symprof

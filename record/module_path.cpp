#include "record/module_path.h"

#include <cctype>

namespace symprof {

std::string without_numbers(std::string_view path) {
  std::string pattern;
  for (const char letter : path) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0)
      pattern += letter;
    else if (!pattern.ends_with('*'))
      pattern += '*';
  }
  return pattern;
}

}  // namespace symprof

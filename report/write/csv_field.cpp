#include "report/write/csv_field.h"

namespace symprof::report {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"') result += '"';
    result += letter;
  }
  return result + '"';
}

}  // namespace symprof::report

#include "report/write/text_width.h"

#include <utf8proc.h>

namespace symprof::report {
namespace {

struct CodePoint {
  std::size_t bytes = 1;
  int columns = 1;
};

/// `text` is not empty.
CodePoint first_of(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (size <= 0) return {};
  return {static_cast<std::size_t>(size), utf8proc_charwidth(code)};
}

}  // namespace

int display_width(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const CodePoint point = first_of(text);
    columns += point.columns;
    text.remove_prefix(point.bytes);
  }
  return columns;
}

std::size_t end_of_front(std::string_view text, int columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const CodePoint point = first_of(text.substr(at));
    columns -= point.columns;
    if (columns < 0) break;
    at += point.bytes;
  }
  return at;
}

std::size_t begin_of_back(std::string_view text, int columns) {
  int left = display_width(text);
  std::size_t at = 0;
  while (at < text.size()) {
    const CodePoint point = first_of(text.substr(at));
    if (left <= columns && point.columns > 0) break;  // An accent goes with its letter.
    left -= point.columns;
    at += point.bytes;
  }
  return at;
}

std::string_view first_letter(std::string_view text) {
  if (text.empty()) return text;
  return text.substr(0, end_of_front(text, first_of(text).columns));
}

}  // namespace symprof::report

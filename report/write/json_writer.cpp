#include "report/write/json_writer.h"

#include "base/setting.h"

#include <fmt/compile.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace symprof::report {
namespace {

bool plain(char letter) {
  return letter >= 0x20 && letter < 0x7F && letter != '"' && letter != '\\';
}

}  // namespace

void JsonWriter::separate() {
  if (needs_comma_) out_.append(std::string_view(", "));
  needs_comma_ = true;
}

void JsonWriter::indent(int columns) {
  out_.push_back('\n');
  for (int i = 0; i < columns; ++i) out_.push_back(' ');
}

void JsonWriter::line(int columns) {
  if (needs_comma_) out_.push_back(',');
  needs_comma_ = false;
  indent(columns);
}

void JsonWriter::closing_line(int columns) { indent(columns); }

void JsonWriter::open(char bracket) {
  separate();
  out_.push_back(bracket);
  needs_comma_ = false;
}

void JsonWriter::end_document() {
  closing_line(0);
  end_object();
  out_.push_back('\n');
}

void JsonWriter::close(char bracket) {
  out_.push_back(bracket);
  needs_comma_ = true;
}

void JsonWriter::key(std::string_view name) {
  value(name);
  out_.append(std::string_view(": "));
  needs_comma_ = false;
}

void JsonWriter::value(std::int64_t number) {
  separate();
  out_.append(fmt::format_int(number));
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}"), number);
}

void JsonWriter::value(std::string_view text) {
  separate();
  if (std::all_of(text.begin(), text.end(), plain)) {
    out_.push_back('"');
    out_.append(text);
    out_.push_back('"');
    return;
  }
  // Rare: escapes, and names that are not UTF-8 (a file may contain any bytes).
  out_.append(std::string_view(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

void JsonWriter::spelled_value(std::string_view text) { value(spelled(text, spell_)); }

void JsonWriter::null() {
  separate();
  out_.append(std::string_view("null"));
}

}  // namespace symprof::report

#include "engine/fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace symprof::engine {
namespace {

constexpr int deepest = 64;
constexpr std::string_view blanks = " \t\r\n";

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto follow = [&](int shift) { put(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
    return follow(0);
  }
  if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    follow(6);
    return follow(0);
  }
  put(0xF0 | (code >> 18));
  follow(12);
  follow(6);
  follow(0);
}

class FieldReader {
 public:
  FieldReader(std::string_view content, std::size_t begin, std::size_t line)
      : content_(content), at_(begin), line_(line) {}

  FieldReading read() {
    FieldReading reading;
    skip_blanks();
    read_value(reading.field, 0);
    reading.end = at_;
    reading.problems = std::move(problems_);
    return reading;
  }

 private:
  bool at_end() const { return at_ >= content_.size(); }
  char letter() const { return content_[at_]; }

  void skip_blanks() {
    for (; !at_end() && blanks.find(letter()) != std::string_view::npos; ++at_)
      line_ += letter() == '\n';
  }

  /// Reports the first problem only; later ones are consequences.
  bool fail(std::string_view problem) {
    if (problems_.empty()) problems_.push_back(fmt::format("line {}: {}", line_, problem));
    return false;
  }

  bool read_value(Field& field, int depth) {
    if (at_end()) return fail("the file ends where a value was to follow");
    if (depth > deepest) return fail("brackets are nested too deeply");
    switch (letter()) {
      case '{':
        field.kind = Field::Kind::object;
        return read_items(field, '}', depth);
      case '[':
        field.kind = Field::Kind::list;
        return read_items(field, ']', depth);
      case '"':
        field.kind = Field::Kind::text;
        return read_text(field.text);
      default:
        return read_word(field.text);
    }
  }

  bool read_word(std::string& word) {
    const std::size_t end =
        std::min(content_.find_first_of(",:]}[{\" \t\r\n", at_), content_.size());
    word = content_.substr(at_, end - at_);
    at_ = end;
    return !word.empty() || fail(fmt::format("'{}' stands where a value was to follow", letter()));
  }

  bool read_items(Field& field, char closing, int depth) {
    const std::size_t opened_on = line_;
    ++at_;
    for (;;) {
      skip_blanks();
      if (at_end()) return fail(fmt::format("the file ends inside what line {} opened", opened_on));
      if (letter() == ',') {
        ++at_;
        continue;
      }
      if (letter() == closing) {
        ++at_;
        return true;
      }
      Field item;
      const bool complete = (closing == ']' || read_key(item.key)) && read_value(item, depth + 1);
      // A layer truncated by the file's end is dropped; its list is kept.
      if (complete || item.kind == Field::Kind::list) field.items.push_back(std::move(item));
      if (!complete) return false;
    }
  }

  bool read_key(std::string& key) {
    if (letter() != '"')
      return fail(fmt::format("'{}' stands where a name was to follow", letter()));
    if (!read_text(key)) return false;
    skip_blanks();
    if (at_end() || letter() != ':') return fail("a name has no value");
    ++at_;
    skip_blanks();
    return true;
  }

  /// True if the quote at this position ends the text.
  bool is_closing() const {
    const std::size_t next = content_.find_first_not_of(blanks, at_ + 1);
    return next == std::string_view::npos ||
           std::string_view(",:]}").find(content_[next]) != std::string_view::npos;
  }

  bool read_text(std::string& text) {
    for (++at_; !at_end(); ++at_) {
      if (letter() == '\n') return fail("a text has no end");
      if (letter() == '"' && is_closing()) {
        ++at_;
        return true;
      }
      if (letter() == '\\' && at_ + 1 < content_.size())
        read_escape(text);
      else
        text += letter();
    }
    return fail("the file ends inside a text");
  }

  /// Called at a backslash; ends at the last character of the escape.
  void read_escape(std::string& text) {
    constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    const std::size_t known = letters.find(content_[at_ + 1]);
    if (known != std::string_view::npos) {
      text += meant[known];
      ++at_;
      return;
    }
    std::uint32_t code = 0;
    if (content_[at_ + 1] != 'u' || !read_code(at_ + 2, code)) {
      text += '\\';
      return;
    }
    at_ += 5;
    std::uint32_t low = 0;
    if (code >= 0xD800 && code < 0xDC00 && content_.substr(at_ + 1, 2) == "\\u" &&
        read_code(at_ + 3, low) && low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      at_ += 6;
    }
    append_utf8(text, code);
  }

  bool read_code(std::size_t begin, std::uint32_t& code) const {
    if (begin + 4 > content_.size()) return false;
    for (const char digit : content_.substr(begin, 4)) {
      const std::size_t value =
          std::string_view("0123456789abcdef")
              .find(digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit);
      if (value == std::string_view::npos) return false;
      code = code * 16 + static_cast<std::uint32_t>(value);
    }
    return true;
  }

  std::string_view content_;
  std::size_t at_, line_;
  std::vector<std::string> problems_;
};

}  // namespace

const Field* Field::find(std::string_view name) const {
  const auto found = std::ranges::find(items, name, &Field::key);
  return kind == Kind::object && found != items.end() ? &*found : nullptr;
}

FieldReading read_fields(std::string_view content, std::size_t begin, std::size_t line) {
  return FieldReader(content, begin, line).read();
}

}  // namespace symprof::engine

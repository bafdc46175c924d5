// Writes JSON straight into a buffer, in the order of the calls: a profile of many thousand calls
// takes a few milliseconds, without an intermediate document.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/setting.h"

namespace symprof::report {

class JsonWriter {
 public:
  explicit JsonWriter(fmt::memory_buffer& out, SettingSpeller spell = spell_plainly)
      : out_(out), spell_(spell) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);
  /// Puts the next key or value on a line of its own, indented by `columns`.
  void line(int columns);
  /// Puts the next closing bracket on a line of its own, indented by `columns`.
  void closing_line(int columns);
  /// Closes the outermost object, on a line of its own.
  void end_document();

  void value(std::int64_t number);
  void value(int number) { value(std::int64_t{number}); }
  void value(double number);  ///< null where JSON has no number (infinite, not a number).
  /// A bool and nothing that converts to one, as pointers to text do.
  void value(std::same_as<bool> auto truth) {
    separate();
    out_.append(std::string_view(truth ? "true" : "false"));
  }
  void value(std::string_view text);
  /// `text` with its references to settings formatted (base/setting.h).
  void spelled_value(std::string_view text);
  void null();

  template <class T>
  void value(const std::optional<T>& maybe) {
    maybe ? value(*maybe) : null();
  }
  template <class T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  /// A member that is a list of values.
  template <class Items>
  void list(std::string_view name, const Items& items) {
    key(name);
    begin_array();
    for (const auto& item : items) value(item);
    end_array();
  }
  void spelled_member(std::string_view name, std::string_view text) {
    key(name);
    spelled_value(text);
  }
  void null_member(std::string_view name) {
    key(name);
    null();
  }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void indent(int columns);

  fmt::memory_buffer& out_;
  SettingSpeller spell_;
  bool needs_comma_ = false;
};

}  // namespace symprof::report

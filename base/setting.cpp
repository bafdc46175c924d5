#include "base/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace symprof {
namespace {

// A reference in a text: mark, name, separator, length of the value, separator, value. With the
// length, a value may contain any bytes; incomplete references are left unchanged.
constexpr char mark = '\x02';
constexpr char separator = '\x1f';

struct FoundReference {
  SettingRef setting;
  std::size_t length = 0;  ///< Bytes of the reference after the mark.
};

/// The reference at the beginning of `text`, which follows a mark; empty if there is none.
std::optional<FoundReference> reference_after_mark(std::string_view text) {
  const std::size_t name_end = text.find(separator);
  if (name_end == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, name_end);
  if (!std::ranges::all_of(name, is_word)) return std::nullopt;
  const std::string_view rest = text.substr(name_end + 1);
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || digits == rest.size() || *end != separator) return std::nullopt;
  const std::string_view value = rest.substr(digits + 1);
  if (length > value.size()) return std::nullopt;
  return FoundReference{{std::string(name), std::string(value.substr(0, length))},
                        name_end + 1 + digits + 1 + length};
}

/// Calls `on_words` or `on_setting` for each piece of `text`, in order.
void for_each_piece(std::string_view text, const auto& on_words, const auto& on_setting) {
  while (!text.empty()) {
    const std::size_t at = text.find(mark);
    on_words(text.substr(0, at));
    if (at == std::string_view::npos) return;
    text.remove_prefix(at + 1);
    if (const auto found = reference_after_mark(text)) {
      on_setting(found->setting);
      text.remove_prefix(found->length);
    } else {
      on_words(std::string_view(&mark, 1));
    }
  }
}

/// True for a setting's name in braces; other braces are literal: "n=int64[3]{8,6,4}".
bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || letter == '_';
  });
}

}  // namespace

std::string_view SettingRef::entry() const {
  const std::size_t equals = value.rfind('=');
  return equals == std::string::npos ? std::string_view()
                                     : std::string_view(value).substr(0, equals);
}

std::string spell_plainly(const SettingRef& setting) {
  if (setting.value.empty()) return setting.name;
  return setting.name + (setting.entry().empty() ? "=" : " ") + setting.value;
}

std::string unspelled(const SettingRef& reference) {
  return setting(reference.name, reference.value);
}

std::string setting(std::string_view name, std::string_view value) {
  return fmt::format("{}{}{}{}{}{}", mark, name, separator, value.size(), separator, value);
}

std::string spelled(std::string_view text, SettingSpeller spell) {
  std::string result;
  for_each_piece(
      text, [&](std::string_view words) { result += words; },
      [&](const SettingRef& setting) { result += spell(setting); });
  return result;
}

std::string spelled_names(std::string_view text, SettingSpeller spell) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('{'), close = text.find('}', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::string_view name = text.substr(open + 1, close - open - 1);
    result += text.substr(0, open);
    if (is_name(name))
      result += spell({std::string(name)});
    else
      result += text.substr(open, close - open + 1);
    text.remove_prefix(close + 1);
  }
  return result.append(text);
}

std::vector<SettingRef> settings_in(std::string_view text) {
  std::vector<SettingRef> found;
  for_each_piece(
      text, [](std::string_view) {}, [&](const SettingRef& setting) { found.push_back(setting); });
  return found;
}

}  // namespace symprof

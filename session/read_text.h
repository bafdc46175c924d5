// Values of settings, read from text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/setting.h"
#include "session/setting_names.h"

namespace symprof::settings {

/// Throws Error about `where`; its advice lists `accepted`: "one of: train, eval, inference".
[[noreturn]] void reject(const SettingRef& where, const std::string& given,
                         const std::vector<std::string>& accepted);

/// The value named `given`. Throws Error that suggests the nearest name.
template <class Value, std::size_t size>
Value choose(const SettingRef& where, const std::string& given, const Named<Value> (&list)[size]) {
  std::vector<std::string> accepted;
  for (const Named<Value>& entry : list) {
    if (entry.name == given) return entry.value;
    accepted.emplace_back(entry.name);
  }
  reject(where, given, accepted);
}

/// A whole number of at least `least`. Throws Error.
int parse_count(const SettingRef& where, const std::string& given, int least);

/// "700MiB", "1.5GiB", "80GB" or plain bytes. Throws Error.
std::int64_t parse_bytes(const SettingRef& where, const std::string& given);

/// "3d", "12h", "90min" or "45s", as seconds. Throws Error.
double parse_duration(const SettingRef& where, const std::string& given);

/// A power limit: "300W" or 300; a clock: "1200MHz" or "1.2GHz". Throws Error.
double parse_watts(const std::string& given);
double parse_hertz(const std::string& given);

/// Parses "1000000" or "1e6". Throws Error for text other than a whole number of at least 1.
std::int64_t parse_amount(const SettingRef& where, const std::string& given);

/// "a,b" as {"a", "b"}; blanks around the words are dropped.
std::vector<std::string> split_list(const std::string& text);

/// Adds to a repeatable setting, each time with several patterns.
void add_patterns(std::vector<std::string>& patterns, const std::string& given);

}  // namespace symprof::settings

#include "report/write/option_spelling.h"

#include <algorithm>
#include <string_view>

namespace symprof::report {
namespace {

/// The option's name: settings with several values are plural, their options singular.
std::string_view option_of(std::string_view setting) {
  if (setting == "sizes") return "set";
  if (setting == "inputs") return "input";
  return setting;
}

/// True if a shell would expand the value, so that it has to be quoted.
bool is_pattern(std::string_view value) {
  return value.find_first_of("*{") != std::string_view::npos;
}

}  // namespace

std::string spell_as_option(const SettingRef& setting) {
  std::string text = "--";
  text += option_of(setting.name);
  std::ranges::replace(text, '_', '-');
  if (setting.value.empty()) return text;
  return text + (is_pattern(setting.value) ? " '" + setting.value + "'" : " " + setting.value);
}

}  // namespace symprof::report

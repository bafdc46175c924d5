#include "session/read_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/nearest.h"

namespace symprof::settings {

void reject(const SettingRef& where, const std::string& given,
            const std::vector<std::string>& accepted) {
  const std::string suggestion = did_you_mean(given, accepted);
  throw Error(where, fmt::format("'{}' is not known.", given),
              fmt::format("{}{}It may be: {}.", suggestion, suggestion.empty() ? "" : " ",
                          fmt::join(accepted, ", ")));
}

int parse_count(const SettingRef& where, const std::string& given, int least) {
  int value = 0;
  const char* end = given.data() + given.size();
  const auto [at, error] = std::from_chars(given.data(), end, value);
  if (error == std::errc() && at == end && value >= least) return value;
  if (error == std::errc::result_out_of_range && at == end && !given.starts_with('-'))
    throw Error(where, fmt::format("'{}' is too large.", given),
                fmt::format("The most is {}.", std::numeric_limits<int>::max()));
  throw Error(where, fmt::format("'{}' is not a whole number of at least {}.", given, least));
}

namespace {

/// A number of at least 0 with one of `units` behind it, multiplied by that.
template <std::size_t size>
std::optional<double> number_in(const std::string& given, const Named<double> (&units)[size]) {
  double number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(given.data() + given.size() - end));
  for (const Named<double>& known : units)
    if (error == std::errc() && known.name == unit && number >= 0 && number * known.value < 0x1p62)
      return number * known.value;
  return std::nullopt;
}

}  // namespace

std::int64_t parse_bytes(const SettingRef& where, const std::string& given) {
  constexpr Named<double> units[] = {
      {"", 1},         {"B", 1},    {"KiB", 1024.0}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
      {"TiB", 0x1p40}, {"kB", 1e3}, {"MB", 1e6},     {"GB", 1e9},      {"TB", 1e12}};
  if (const std::optional<double> bytes = number_in(given, units))
    return static_cast<std::int64_t>(*bytes);
  throw Error(where, fmt::format("'{}' is no number of bytes.", given),
              "Write 700MiB, 1.5GiB or 80GB.");
}

double parse_duration(const SettingRef& where, const std::string& given) {
  constexpr Named<double> units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
  if (const std::optional<double> seconds = number_in(given, units); seconds && *seconds > 0)
    return *seconds;
  throw Error(where, fmt::format("'{}' is no span of time.", given),
              "Write 3d, 12h, 90min or 45s.");
}

double parse_watts(const std::string& given) {
  constexpr Named<double> units[] = {{"", 1}, {"W", 1}};
  if (const std::optional<double> watts = number_in(given, units); watts && *watts > 0)
    return *watts;
  throw Error(SettingRef{"power_limit"}, fmt::format("'{}' is no power.", given), "Write 300W.");
}

double parse_hertz(const std::string& given) {
  constexpr Named<double> units[] = {{"MHz", 1e6}, {"GHz", 1e9}};
  if (const std::optional<double> hertz = number_in(given, units); hertz && *hertz > 0)
    return *hertz;
  throw Error(SettingRef{"clock"}, fmt::format("'{}' is no clock.", given),
              "Write 1200MHz or 1.2GHz.");
}

std::int64_t parse_amount(const SettingRef& where, const std::string& given) {
  constexpr Named<double> units[] = {{"", 1}};
  if (const std::optional<double> number = number_in(given, units);
      number && *number >= 1 && *number == std::floor(*number))
    return static_cast<std::int64_t>(*number);
  throw Error(where, fmt::format("'{}' is not a whole number of at least 1.", given),
              "Write 1000000 or 1e6.");
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    words.push_back(std::move(word));
    at = comma + 1;
  }
  return words;
}

void add_patterns(std::vector<std::string>& patterns, const std::string& given) {
  for (std::string& pattern : split_list(given))
    if (std::ranges::find(patterns, pattern) == patterns.end())
      patterns.push_back(std::move(pattern));
}

}  // namespace symprof::settings

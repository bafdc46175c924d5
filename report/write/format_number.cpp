#include "report/write/format_number.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace symprof::report {
namespace {

constexpr std::array<std::string_view, 7> binary_units = {"B",   "KiB", "MiB", "GiB",
                                                          "TiB", "PiB", "EiB"};
constexpr std::array<std::string_view, 7> time_units = {"ns", "µs", "ms", "s", "ks", "Ms", "Gs"};
constexpr std::array<std::string_view, 7> decimal_units = {"", "k", "M", "G", "T", "P", "E"};

int decimals(double value, Precision precision) {
  if (precision == Precision::decimals || value < 9.995) return 2;
  return value < 99.95 ? 1 : 0;
}

/// Goes to the next unit where the printed number would not be below `base` (or, with three
/// digits, would have four), so that 1048575 bytes are "1.00 MiB" and never "1024.00 KiB".
Quantity scale(std::int64_t exact, double base, const std::array<std::string_view, 7>& units,
               Precision precision) {
  if (exact == 0) return {"0", ""};
  const double limit = precision == Precision::decimals ? base - 0.005 : 999.5;
  if (std::abs(static_cast<double>(exact)) < std::min(base, limit + 0.5))
    return {std::to_string(exact), std::string(units[0])};
  double value = static_cast<double>(exact);
  std::size_t unit = 0;
  while ((unit == 0 || std::abs(value) >= limit) && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  return {fmt::format("{:.{}f}", value, decimals(std::abs(value), precision)),
          std::string(units[unit])};
}

}  // namespace

Quantity scale_bytes(std::int64_t bytes, Precision precision) {
  return scale(bytes, 1024, binary_units, precision);
}

Quantity scale_count(std::int64_t count, Precision precision) {
  return scale(count, 1000, decimal_units, precision);
}

Quantity scale_time(std::int64_t nanoseconds, Precision precision) {
  if (nanoseconds == 0) return {"0", ""};
  return scale(nanoseconds, 1000, time_units, precision);
}

std::string format_time(double microseconds) {
  const Quantity quantity = scale_time(std::llround(microseconds * 1000), Precision::decimals);
  return quantity.number + " " + (quantity.unit.empty() ? "s" : quantity.unit);
}

std::string format_bytes(std::int64_t bytes) {
  if (bytes == 0) return "0 B";
  const Quantity quantity = scale_bytes(bytes, Precision::decimals);
  return quantity.number + " " + quantity.unit;
}

std::string signed_bytes(std::int64_t bytes) {
  if (bytes == 0) return "0";
  return (bytes > 0 ? "+" : "-") + format_bytes(bytes > 0 ? bytes : -bytes);
}

std::string format_count(std::int64_t count, std::string_view unit) {
  const Quantity quantity = scale_count(count, Precision::decimals);
  return fmt::format("{} {}{}", quantity.number, quantity.unit, unit);
}

std::string group_digits(std::int64_t value) { return group_digits(std::to_string(value)); }

std::string group_digits(std::string digits) {
  const int first = digits.starts_with('-') ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) digits.insert(at, ",");
  return digits;
}

}  // namespace symprof::report

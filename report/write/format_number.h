// Numbers as people read them: 4.59 MiB, 924.84 M, 86,567,656.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace symprof::report {

enum class Precision : std::uint8_t {
  decimals,     ///< Two decimals: "978.44 MiB".
  significant,  ///< Three digits: "978 MiB", "97.8 MiB", "0.98 GiB". For narrow terminals.
};

/// A scaled number and its unit, apart, so that a table can align both. Zero has no unit.
struct Quantity {
  std::string number;
  std::string unit;
};

/// Binary units: B, KiB, MiB, GiB, TiB, PiB, EiB.
Quantity scale_bytes(std::int64_t bytes, Precision precision);
/// Decimal units: none, k, M, G, T, P, E.
Quantity scale_count(std::int64_t count, Precision precision);

/// Decimal units of time, from nanoseconds: ns, µs, ms, s.
Quantity scale_time(std::int64_t nanoseconds, Precision precision);

/// "3.21 ms", "0 s".
std::string format_time(double microseconds);
/// "4.59 MiB", "0 B".
std::string format_bytes(std::int64_t bytes);
/// "+4.59 MiB", "-1.00 KiB", "0".
std::string signed_bytes(std::int64_t bytes);
/// "924.84 MFLOPs" for unit "FLOPs".
std::string format_count(std::int64_t count, std::string_view unit);
/// "86,567,656".
std::string group_digits(std::int64_t value);
/// Groups the digits of a whole number that is text already, "-1234".
std::string group_digits(std::string digits);

}  // namespace symprof::report

// Rounding to multiples, and their number.
#pragma once

#include <bit>
#include <cstdint>

namespace symprof {

/// The next multiple of `multiple` (above 0) that is at least `value` (0 or more).
constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The largest power of two that is at most `value` (above 0).
constexpr std::int64_t floor_power_of_two(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
}

/// The number of parts of size `by` (above 0) needed for `value` (0 or more).
constexpr std::int64_t divide_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

}  // namespace symprof

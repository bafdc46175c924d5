// Sizes that come in multiples.
#pragma once

#include <cstdint>

namespace symprof::profile {

/// The next multiple of `multiple` (above 0) that is at least `value` (0 or more).
constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace symprof::profile

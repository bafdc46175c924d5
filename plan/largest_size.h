// The largest size that fits a device.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace symprof::plan {

struct LargestSize {
  std::optional<std::int64_t> fits;     ///< The largest found to fit; empty: none.
  std::optional<std::int64_t> refused;  ///< The smallest found not to fit.
  /// Why the model does not run with `refused`, which may refer to settings (base/setting.h);
  /// empty: not enough memory.
  std::string refusal;
  int trials = 0;
};

/// Doubles from `start` (at least 1) until `fits` returns false or `most` is reached, then bisects.
/// Correct if every size below a fitting one fits: true for memory, except a few sizes at the limit
/// that depend on the allocator's segments. Without `most` the search ends at 2^40.
LargestSize find_largest_size(std::int64_t start, std::optional<std::int64_t> most,
                              const std::function<bool(std::int64_t)>& fits);

}  // namespace symprof::plan

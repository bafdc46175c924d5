// The largest size that a device has room for.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace symprof::plan {

struct LargestSize {
  std::optional<std::int64_t> fits;     ///< The largest that was found to fit; empty: none does.
  std::optional<std::int64_t> refused;  ///< The smallest that was found not to.
  /// Why the model does not run with `refused`, which may refer to settings (base/setting.h);
  /// empty: memory is missing.
  std::string refusal;
  int trials = 0;
};

/// Doubles from `start` (at least 1) until `fits` says no or `most` is reached, then halves the
/// gap. The answer is right where a size that fits means that all smaller ones do: so it is for
/// memory, but for a few sizes at the border that the allocator's segments favour. Without `most`
/// the search ends at 2^40.
LargestSize find_largest_size(std::int64_t start, std::optional<std::int64_t> most,
                              const std::function<bool(std::int64_t)>& fits);

}  // namespace symprof::plan

// Bounds of a tensor's elements with unknown values: labels drawn by randint, probabilities,
// indices from topk.
#pragma once

#include <algorithm>
#include <limits>

namespace symprof::meta {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// The largest float32 below 1: torch.rand draws from [0, 1).
constexpr double below_one = 1.0 - 1.0 / (1 << 24);

/// Bounds of all elements of a storage, or of a call's result.
struct ValueRange {
  double low = -infinity, high = infinity;
  double likely =
      1;  ///< The value assumed for an element that the program reads; within the bounds.

  bool is_bounded() const { return low > -infinity || high < infinity; }
  /// All elements are this one number.
  bool is_number() const { return low == high && is_bounded(); }
};

/// `likely` is clamped to the bounds.
inline ValueRange between(double low, double high, double likely = 1) {
  return {low, high, std::clamp(likely, low, high)};
}

inline ValueRange only(double number) { return {number, number, number}; }

/// Bounds of the union of both.
inline ValueRange both(const ValueRange& left, const ValueRange& right) {
  return {std::min(left.low, right.low), std::max(left.high, right.high), left.likely};
}

}  // namespace symprof::meta

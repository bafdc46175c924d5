// Between which numbers the elements of a tensor lie whose values are not known: labels that
// randint drew, probabilities, indices that topk gives.
//
// Public header.
#pragma once

#include <algorithm>
#include <limits>

namespace symprof::meta {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// The largest float32 below 1: torch.rand gives numbers of [0, 1).
constexpr double below_one = 1.0 - 1.0 / (1 << 24);

/// Of all elements of a storage, or of all that a call makes.
struct ValueRange {
  double low = -infinity, high = infinity;
  double likely = 1;  ///< What stands for an element that the program reads; within the bounds.

  bool is_bounded() const { return low > -infinity || high < infinity; }
  /// All elements are this one number.
  bool is_number() const { return low == high && is_bounded(); }
};

/// `likely` is brought within the bounds.
inline ValueRange between(double low, double high, double likely = 1) {
  return {low, high, std::clamp(likely, low, high)};
}

inline ValueRange only(double number) { return {number, number, number}; }

/// Elements of the one, and of the other.
inline ValueRange both(const ValueRange& left, const ValueRange& right) {
  return {std::min(left.low, right.low), std::max(left.high, right.high), left.likely};
}

}  // namespace symprof::meta

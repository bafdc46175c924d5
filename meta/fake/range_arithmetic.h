// Interval arithmetic: bounds of an operator's results from its operands' bounds.
#pragma once

#include <cmath>

#include "meta/fake/value_range.h"

namespace symprof::meta::ranges {

/// 0 times infinity is 0, as an element that is 0 stays 0.
inline double product(double left, double right) {
  return left == 0 || right == 0 ? 0 : left * right;
}

inline ValueRange add(const ValueRange& left, const ValueRange& right) {
  return between(left.low + right.low, left.high + right.high, left.likely + right.likely);
}

inline ValueRange negated(const ValueRange& range) {
  return between(-range.high, -range.low, -range.likely);
}

inline ValueRange mul(const ValueRange& left, const ValueRange& right) {
  const auto [low, high] =
      std::minmax({product(left.low, right.low), product(left.low, right.high),
                   product(left.high, right.low), product(left.high, right.high)});
  return between(low, high, product(left.likely, right.likely));
}

template <double function(double)>
ValueRange rising(const ValueRange& range) {
  return between(function(range.low), function(range.high), function(range.likely));
}

inline ValueRange absolute(const ValueRange& range) {
  const double low = std::abs(range.low), high = std::abs(range.high);
  const bool holds_zero = range.low <= 0 && range.high >= 0;
  return between(holds_zero ? 0 : std::min(low, high), std::max(low, high), std::abs(range.likely));
}

inline ValueRange minimum(const ValueRange& left, const ValueRange& right) {
  return between(std::min(left.low, right.low), std::min(left.high, right.high),
                 std::min(left.likely, right.likely));
}

inline ValueRange maximum(const ValueRange& left, const ValueRange& right) {
  return negated(minimum(negated(left), negated(right)));
}

/// A truth value: fixed if the bounds decide it, else 0 or 1.
inline ValueRange truth(bool is_true, bool is_false) {
  return is_true ? only(1) : is_false ? only(0) : between(0, 1);
}

inline ValueRange less(const ValueRange& left, const ValueRange& right) {
  return truth(left.high < right.low, left.low >= right.high);
}

inline ValueRange at_least(const ValueRange& left, const ValueRange& right) {
  return truth(left.low >= right.high, left.high < right.low);
}

inline ValueRange opposite(const ValueRange& range) {
  return between(1 - range.high, 1 - range.low, 1 - range.likely);
}

inline bool are_one_number(const ValueRange& left, const ValueRange& right) {
  return left.is_number() && right.is_number() && left.low == right.low;
}
inline bool are_apart(const ValueRange& left, const ValueRange& right) {
  return left.high < right.low || right.high < left.low;
}
inline ValueRange equal(const ValueRange& left, const ValueRange& right) {
  return truth(are_one_number(left, right), are_apart(left, right));
}
inline ValueRange unequal(const ValueRange& left, const ValueRange& right) {
  return truth(are_apart(left, right), are_one_number(left, right));
}

/// Truth value of "not 0".
inline ValueRange as_truth(const ValueRange& range) {
  const ValueRange answer =
      truth(range.low > 0 || range.high < 0, range.low == 0 && range.high == 0);
  return answer.is_number() ? answer : between(0, 1, range.likely != 0 ? 1 : 0);
}

}  // namespace symprof::meta::ranges

// A 64-bit count whose sums and products cannot wrap: 6 × 405e9 parameters × 16e6 tokens = 3.9e19
// is already more than an int64_t holds.
//
// Public header.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace symprof {

/// A count exceeds int64_t: the sizes of the step are too large.
class CountOverflow : public Error {
 public:
  CountOverflow() : Error("", "a count does not fit into 64 bits", "Profile with smaller sizes.") {}
};

/// An integer that throws CountOverflow if int64_t would overflow. Converts implicitly from
/// int64_t, but back only by value(), so that a formula is checked throughout.
class Count {
 public:
  constexpr Count(std::int64_t value = 0) : value_(value) {}
  constexpr std::int64_t value() const { return value_; }

  friend Count operator*(Count a, Count b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &product)) overflow();
    return product;
  }
  friend Count operator+(Count a, Count b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &sum)) overflow();
    return sum;
  }
  Count& operator+=(Count other) { return *this = *this + other; }
  Count& operator*=(Count other) { return *this = *this * other; }
  friend bool operator==(Count, Count) = default;
  friend auto operator<=>(Count, Count) = default;  // NOLINT(modernize-use-nullptr)

 private:
  [[noreturn]] static void overflow() { throw CountOverflow(); }
  std::int64_t value_;
};

/// Adds to a sum in a plain integer. Throws CountOverflow.
inline void add_to(std::int64_t& sum, std::int64_t term) { sum = (Count(sum) + term).value(); }

}  // namespace symprof

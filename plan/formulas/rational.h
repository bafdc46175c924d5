// Exact fractions: the coefficients of formulas that are found from whole numbers.
#pragma once

#include <cstdint>

namespace symprof::plan {

__extension__ typedef __int128 Wide;

/// A fraction of 128-bit integers in lowest terms, its denominator above 0. Throws Error where a
/// result does not fit.
class Rational {
 public:
  constexpr Rational(std::int64_t value = 0) : numerator_(value) {}
  /// `denominator` is not 0.
  static Rational of(Wide numerator, Wide denominator);

  Wide numerator() const { return numerator_; }
  Wide denominator() const { return denominator_; }
  bool is_zero() const { return numerator_ == 0; }
  bool is_integer() const { return denominator_ == 1; }
  double approximate() const {
    return static_cast<double>(numerator_) / static_cast<double>(denominator_);
  }

  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend Rational operator/(const Rational& a, const Rational& b);  ///< `b` is not 0.
  friend bool operator==(const Rational&, const Rational&) = default;

 private:
  Wide numerator_ = 0;
  Wide denominator_ = 1;
};

}  // namespace symprof::plan

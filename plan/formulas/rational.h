// Exact fractions: the coefficients of formulas fitted to integers.
//
// Public header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace symprof::plan {

/// A fraction in lowest terms of any size, its denominator positive. Hides Boost's header, which
/// costs seconds of compile time in every file that includes it.
class Rational {
 public:
  Rational(std::int64_t value = 0);
  /// `denominator` is not 0.
  static Rational of(std::int64_t numerator, std::int64_t denominator);

  std::string numerator() const;    ///< Its digits, "-" before them where it is below 0.
  std::string denominator() const;  ///< Its digits.
  bool is_zero() const;
  bool is_negative() const;
  bool is_integer() const;
  double approximate() const;

  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend Rational operator/(const Rational& a, const Rational& b);  ///< `b` is not 0.
  friend bool operator==(const Rational& a, const Rational& b);

 private:
  struct Value;
  explicit Rational(Value value);

  std::shared_ptr<const Value> value_;  ///< Never changes, so copies share it.
};

}  // namespace symprof::plan

#include "plan/formulas/rational.h"

#include "base/error.h"

namespace symprof::plan {
namespace {

[[noreturn]] void overflow() {
  throw Error("", "a coefficient does not fit into 128 bits", "Use smaller sizes.");
}

Wide product(Wide a, Wide b) {
  Wide result = 0;
  if (__builtin_mul_overflow(a, b, &result)) overflow();
  return result;
}

Wide sum(Wide a, Wide b) {
  Wide result = 0;
  if (__builtin_add_overflow(a, b, &result)) overflow();
  return result;
}

Wide negative(Wide value) { return product(value, -1); }

/// Of numbers that are not below 0, one of them above.
Wide greatest_common_divisor(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace

Rational Rational::of(Wide numerator, Wide denominator) {
  if (denominator < 0) {
    numerator = negative(numerator);
    denominator = negative(denominator);
  }
  const Wide size = numerator < 0 ? negative(numerator) : numerator;
  const Wide common = denominator == 1 ? 1 : greatest_common_divisor(size, denominator);
  Rational result;
  result.numerator_ = numerator / common;
  result.denominator_ = denominator / common;
  return result;
}

// Common factors go before the products, which would overflow earlier with them.
Rational operator+(const Rational& a, const Rational& b) {
  const Wide common = greatest_common_divisor(a.denominator_, b.denominator_);
  const Wide numerator = sum(product(a.numerator_, b.denominator_ / common),
                             product(b.numerator_, a.denominator_ / common));
  return Rational::of(numerator, product(a.denominator_, b.denominator_ / common));
}

Rational operator-(const Rational& a, const Rational& b) { return a + b * Rational(-1); }

Rational operator*(const Rational& a, const Rational& b) {
  const Rational left = Rational::of(a.numerator_, b.denominator_);
  const Rational right = Rational::of(b.numerator_, a.denominator_);
  return Rational::of(product(left.numerator_, right.numerator_),
                      product(left.denominator_, right.denominator_));
}

Rational operator/(const Rational& a, const Rational& b) {
  return a * Rational::of(b.denominator_, b.numerator_);
}

}  // namespace symprof::plan

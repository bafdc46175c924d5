#include "plan/formulas/rational.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <utility>

namespace symprof::plan {

using Fraction = boost::multiprecision::cpp_rational;

struct Rational::Value {
  Fraction number;
};

Rational::Rational(Value value) : value_(std::make_shared<const Value>(std::move(value))) {}

Rational::Rational(std::int64_t value) : Rational(Value{Fraction(value)}) {}

Rational Rational::of(std::int64_t numerator, std::int64_t denominator) {
  return Rational(Value{Fraction(numerator) / Fraction(denominator)});
}

std::string Rational::numerator() const {
  return boost::multiprecision::numerator(value_->number).str();
}

std::string Rational::denominator() const {
  return boost::multiprecision::denominator(value_->number).str();
}

bool Rational::is_zero() const { return value_->number.is_zero(); }

bool Rational::is_negative() const { return value_->number < 0; }

bool Rational::is_integer() const {
  return boost::multiprecision::denominator(value_->number) == 1;
}

double Rational::approximate() const { return value_->number.convert_to<double>(); }

Rational operator+(const Rational& a, const Rational& b) {
  return Rational(Rational::Value{a.value_->number + b.value_->number});
}

Rational operator-(const Rational& a, const Rational& b) {
  return Rational(Rational::Value{a.value_->number - b.value_->number});
}

Rational operator*(const Rational& a, const Rational& b) {
  return Rational(Rational::Value{a.value_->number * b.value_->number});
}

Rational operator/(const Rational& a, const Rational& b) {
  return Rational(Rational::Value{a.value_->number / b.value_->number});
}

bool operator==(const Rational& a, const Rational& b) {
  return a.value_->number == b.value_->number;
}

}  // namespace symprof::plan

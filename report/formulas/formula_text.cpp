#include "report/formulas/formula_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "report/write/format_number.h"

namespace symprof::report {
namespace {

using plan::Rational;
using plan::Variable;

std::string raised(int power) {
  constexpr std::array<std::string_view, 10> digits = {"⁰", "¹", "²", "³", "⁴",
                                                       "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (power == 1) return "";
  std::string text;
  for (const char digit : std::to_string(power))
    text += digits[static_cast<std::size_t>(digit - '0')];
  return text;
}

/// `number` is not below 0: "9,216", "3/2".
std::string number_text(const Rational& number) {
  std::string text = group_digits(number.numerator());
  if (!number.is_integer()) text += "/" + group_digits(number.denominator());
  return text;
}

std::string product_text(const plan::Term& term, const std::vector<Variable>& variables) {
  std::string text;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (term.powers[i] > 0)
      text += (text.empty() ? "" : "·") + variables[i].name + raised(term.powers[i]);
  return text;
}

std::string scaled(double value, FigureUnit unit) {
  const auto whole = static_cast<std::int64_t>(std::clamp(std::round(value), -9e18, 9e18));
  switch (unit) {
    case FigureUnit::bytes:
      return format_bytes(whole);
    case FigureUnit::products:
    case FigureUnit::flops:
      return format_count(whole, "FLOPs");
    default:
      return group_digits(whole);
  }
}

}  // namespace

std::string polynomial_text(const plan::Polynomial& polynomial,
                            const std::vector<Variable>& variables) {
  std::string text;
  for (const plan::Term& term : polynomial.terms) {
    const bool is_negative = term.coefficient.is_negative();
    const Rational size = is_negative ? term.coefficient * Rational(-1) : term.coefficient;
    const std::string product = product_text(term, variables);
    if (text.empty())
      text = is_negative ? "−" : "";
    else
      text += is_negative ? " − " : " + ";
    if (product.empty())
      text += number_text(size);
    else
      text += size == Rational(1) ? product : number_text(size) + "·" + product;
  }
  return text.empty() ? "0" : text;
}

std::string sizes_text(const plan::Sizes& sizes, const std::vector<Variable>& variables) {
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("{}{}={}", i ? ", " : "", variables[i].name, sizes[i]);
  return text;
}

std::string multiples_text(const plan::Sizes& multiples, const std::vector<Variable>& variables) {
  std::string text;
  for (std::size_t i = 0; i < multiples.size(); ++i)
    if (multiples[i] > 1)
      text += fmt::format("{}{} in multiples of {}", text.empty() ? "" : ", ", variables[i].name,
                          multiples[i]);
  return text;
}

std::string mismatch_text(const plan::Formula& formula, FigureUnit unit,
                          const std::vector<Variable>& variables) {
  const plan::Mismatch& found = *formula.mismatch;
  std::string measured = scaled(static_cast<double>(found.measured), unit);
  std::string predicted = scaled(found.predicted.approximate(), unit);
  if (measured == predicted) {
    measured = group_digits(found.measured);
    predicted = fmt::format("{:.1f}", found.predicted.approximate());
    if (found.predicted.is_integer()) predicted = group_digits(found.predicted.numerator());
  }
  return fmt::format("{} at {}, where {} would continue it", measured,
                     sizes_text(found.sizes, variables), predicted);
}

}  // namespace symprof::report

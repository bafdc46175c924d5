// Newton's divided differences, one variable after the other, turn values into the coefficients of
// products of the variables' powers.
#include "plan/formulas/polynomial.h"

#include <algorithm>
#include <numeric>

namespace symprof::plan {
namespace {

/// Turns values at `sizes` into Newton's coefficients, and those into coefficients of powers.
void to_powers(const Sizes& sizes, std::vector<Rational>& line) {
  const std::size_t count = sizes.size();
  for (std::size_t order = 1; order < count; ++order)
    for (std::size_t i = count - 1; i >= order; --i)
      line[i] = (line[i] - line[i - 1]) / Rational(sizes[i] - sizes[i - order]);
  // Horner's rule, with (x - sizes[i]) for x.
  for (std::size_t i = count - 1; i-- > 0;)
    for (std::size_t power = i; power + 1 < count; ++power)
      line[power] = line[power] - line[power + 1] * Rational(sizes[i]);
}

/// Transforms `values` along the variable whose neighboring values are `stride` apart.
void transform(const Sizes& sizes, std::size_t stride, std::vector<Rational>& values) {
  std::vector<Rational> line(sizes.size());
  for (std::size_t begin = 0; begin < values.size(); ++begin) {
    if (begin / stride % sizes.size() != 0) continue;
    for (std::size_t i = 0; i < line.size(); ++i) line[i] = values[begin + i * stride];
    to_powers(sizes, line);
    for (std::size_t i = 0; i < line.size(); ++i) values[begin + i * stride] = line[i];
  }
}

bool is_written_before(const Term& left, const Term& right) {
  return left.degree() != right.degree() ? left.degree() > right.degree()
                                         : left.powers > right.powers;
}

}  // namespace

int Term::degree() const { return std::accumulate(powers.begin(), powers.end(), 0); }

Rational Polynomial::at(const Sizes& sizes) const {
  Rational sum;
  for (const Term& term : terms) {
    Rational product = term.coefficient;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      for (int power = 0; power < term.powers[i]; ++power) product = product * Rational(sizes[i]);
    sum = sum + product;
  }
  return sum;
}

std::vector<Sizes> points_of(const Grid& grid) {
  std::vector<Sizes> points(1);
  for (const Sizes& sizes : grid) {
    std::vector<Sizes> longer;
    for (const Sizes& point : points)
      for (const std::int64_t size : sizes) {
        longer.push_back(point);
        longer.back().push_back(size);
      }
    points = std::move(longer);
  }
  return points;
}

Polynomial interpolate(const Grid& grid, std::span<const std::int64_t> values) {
  std::vector<Rational> coefficients(values.begin(), values.end());
  std::size_t stride = values.size();
  for (const Sizes& sizes : grid) {
    stride /= sizes.size();
    transform(sizes, stride, coefficients);
  }
  Polynomial polynomial;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    if (coefficients[i].is_zero()) continue;
    Term term{coefficients[i], {}};
    std::size_t place = coefficients.size(), rest = i;
    for (const Sizes& sizes : grid) {
      place /= sizes.size();
      term.powers.push_back(static_cast<int>(rest / place));
      rest %= place;
    }
    polynomial.terms.push_back(std::move(term));
  }
  std::ranges::sort(polynomial.terms, is_written_before);
  return polynomial;
}

int degree_of(std::span<const std::int64_t> values) {
  std::vector<Rational> differences(values.begin(), values.end());
  for (int degree = -1; !differences.empty(); ++degree) {
    if (std::ranges::all_of(differences, &Rational::is_zero)) return std::max(degree, 0);
    for (std::size_t i = 0; i + 1 < differences.size(); ++i)
      differences[i] = differences[i + 1] - differences[i];
    differences.pop_back();
  }
  return -1;
}

}  // namespace symprof::plan

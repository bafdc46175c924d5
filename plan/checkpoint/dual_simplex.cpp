#include "plan/checkpoint/dual_simplex.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symprof::plan {
namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();
/// How far a variable may exceed its bounds, and the factor below which an entry counts as 0.
constexpr double bound_tolerance = 1e-7, least_factor = 1e-9;

}  // namespace

DualSimplex::DualSimplex(std::vector<double> costs, std::vector<double> lower,
                         std::vector<double> upper)
    : columns_(costs.size()),
      costs_(std::move(costs)),
      lower_(std::move(lower)),
      upper_(std::move(upper)),
      reduced_(costs_) {
  for (std::size_t i = 0; i < columns_; ++i) {
    nonbasic_.push_back(static_cast<int>(i));
    place_.push_back(-1 - static_cast<int>(i));
    is_at_upper_.push_back(costs_[i] < 0 ? 1 : 0);
  }
}

double DualSimplex::lower(int variable) const {
  const auto at = static_cast<std::size_t>(variable);
  return at < columns_ ? lower_[at] : 0;
}

double DualSimplex::upper(int variable) const {
  const auto at = static_cast<std::size_t>(variable);
  if (at >= columns_) return no_end;
  return upper_[at];
}

double DualSimplex::value_of_column(std::size_t column) const {
  return is_at_upper_[column] != 0 ? upper(nonbasic_[column]) : lower(nonbasic_[column]);
}

/// The row's slack variable is basic at first.
void DualSimplex::add(std::shared_ptr<const LinearRow> row) {
  std::vector<double> cells(columns_, 0);
  double value = row->most;
  for (const auto& [variable, factor] : row->terms) {
    const int place = place_[static_cast<std::size_t>(variable)];
    if (place < 0) {
      const auto column = static_cast<std::size_t>(-1 - place);
      cells[column] += factor;
      value -= factor * value_of_column(column);
      continue;
    }
    const auto at = static_cast<std::size_t>(place);
    for (std::size_t j = 0; j < columns_; ++j) cells[j] -= factor * cell(at, j);
    value -= factor * values_[at];
  }
  place_.push_back(static_cast<int>(rows_.size()));
  basic_.push_back(static_cast<int>(columns_ + rows_.size()));
  values_.push_back(value);
  cells_.insert(cells_.end(), cells.begin(), cells.end());
  rows_.push_back(std::move(row));
}

void DualSimplex::move(std::size_t column, double change) {
  if (change == 0) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) values_[i] -= cell(i, column) * change;
}

void DualSimplex::set_bounds(int variable, double lower, double upper) {
  const auto at = static_cast<std::size_t>(variable);
  const int place = place_[at];
  const double before = place < 0 ? value_of_column(static_cast<std::size_t>(-1 - place)) : 0;
  lower_[at] = lower;
  upper_[at] = upper;
  if (place >= 0) return;
  const auto column = static_cast<std::size_t>(-1 - place);
  move(column, value_of_column(column) - before);
}

std::size_t DualSimplex::worst_row() const {
  std::size_t worst = no_row;
  double most = bound_tolerance;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double beyond = std::max(lower(basic_[i]) - values_[i], values_[i] - upper(basic_[i]));
    if (beyond > most) most = beyond, worst = i;
  }
  return worst;
}

/// The column whose entry moves the row's variable to its bound at the least cost (ratio test).
std::size_t DualSimplex::entering_column(std::size_t row, bool rises) const {
  std::size_t found = columns_;
  double least = no_end, factor = 0;
  for (std::size_t j = 0; j < columns_; ++j) {
    const double one = rises ? -cell(row, j) : cell(row, j);
    if (is_at_upper_[j] != 0 ? one >= -least_factor : one <= least_factor) continue;
    if (lower(nonbasic_[j]) == upper(nonbasic_[j])) continue;
    const double ratio = std::abs(reduced_[j] / one);
    if (ratio > least + 1e-12 || (ratio > least - 1e-12 && std::abs(one) <= factor)) continue;
    least = std::min(ratio, least);
    factor = std::abs(one);
    found = j;
  }
  return found;
}

std::ptrdiff_t DualSimplex::pivot(std::size_t row, std::size_t column, bool to_upper) {
  const double factor = cell(row, column);
  const int leaving = basic_[row], entering = nonbasic_[column];
  const double bound = to_upper ? upper(leaving) : lower(leaving);
  const double change = (values_[row] - bound) / factor;
  const double value = value_of_column(column) + change;
  move(column, change);
  double* const by = &cells_[row * columns_];
  for (std::size_t j = 0; j < columns_; ++j) by[j] /= factor;
  by[column] = 1 / factor;
  std::size_t changed = 1;
  const auto subtract = [&](double* from) {
    const double times = from[column];
    if (times == 0) return;
    ++changed;
    from[column] = 0;
    for (std::size_t j = 0; j < columns_; ++j) from[j] -= times * by[j];
  };
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (i != row) subtract(&cells_[i * columns_]);
  subtract(reduced_.data());
  values_[row] = value;
  basic_[row] = entering;
  nonbasic_[column] = leaving;
  is_at_upper_[column] = to_upper ? 1 : 0;
  place_[static_cast<std::size_t>(entering)] = static_cast<int>(row);
  place_[static_cast<std::size_t>(leaving)] = -1 - static_cast<int>(column);
  return static_cast<std::ptrdiff_t>(changed * columns_);
}

DualSimplex::Outcome DualSimplex::solve(std::ptrdiff_t& work) {
  for (std::size_t row = worst_row(); row != no_row; row = worst_row()) {
    if (work < 0) return Outcome::stopped;
    const bool rises = values_[row] < lower(basic_[row]);
    const std::size_t column = entering_column(row, rises);
    if (column == columns_) return is_proof(row, rises) ? Outcome::impossible : Outcome::stopped;
    work -= pivot(row, column, !rises);
  }
  return Outcome::least;
}

std::vector<double> DualSimplex::priced(const std::vector<double>& prices, bool with_costs) const {
  std::vector<double> sums = with_costs ? costs_ : std::vector<double>(columns_, 0);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (prices[i] != 0)
      for (const auto& [variable, factor] : rows_[i]->terms)
        sums[static_cast<std::size_t>(variable)] += prices[i] * factor;
  return sums;
}

std::vector<double> DualSimplex::values() const {
  std::vector<double> values(columns_);
  for (std::size_t i = 0; i < columns_; ++i)
    values[i] = place_[i] >= 0 ? values_[static_cast<std::size_t>(place_[i])]
                               : value_of_column(static_cast<std::size_t>(-1 - place_[i]));
  return values;
}

double DualSimplex::bound() const {
  std::vector<double> prices(rows_.size(), 0);
  double sum = 0;
  for (std::size_t j = 0; j < columns_; ++j)
    if (const auto variable = static_cast<std::size_t>(nonbasic_[j]); variable >= columns_) {
      const std::size_t row = variable - columns_;
      prices[row] = std::max(reduced_[j], 0.0);
      sum -= prices[row] * rows_[row]->most;
    }
  const std::vector<double> costs = priced(prices, true);
  for (std::size_t i = 0; i < columns_; ++i)
    sum += std::min(costs[i] * lower_[i], costs[i] * upper_[i]);
  return sum;
}

/// True if the rows, weighted by this tableau row, sum to more than their upper limits for every
/// value of the variables: a proof of infeasibility.
bool DualSimplex::is_proof(std::size_t row, bool rises) const {
  std::vector<double> prices(rows_.size(), 0);
  const auto set = [&](int variable, double factor) {
    if (const auto at = static_cast<std::size_t>(variable); at >= columns_)
      prices[at - columns_] = std::max(rises ? factor : -factor, 0.0);
  };
  set(basic_[row], 1);
  for (std::size_t j = 0; j < columns_; ++j) set(nonbasic_[j], cell(row, j));
  const std::vector<double> sums = priced(prices, false);
  double least = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) least -= prices[i] * rows_[i]->most;
  for (std::size_t i = 0; i < columns_; ++i)
    least += std::min(sums[i] * lower_[i], sums[i] * upper_[i]);
  return least > bound_tolerance;
}

}  // namespace symprof::plan

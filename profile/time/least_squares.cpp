#include "profile/time/least_squares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace symprof::profile {
namespace {

constexpr double outlier = 0.08;  ///< Error beyond which the loss is linear.
constexpr double to_start =
    0.02;  ///< Weight of the distance from the start, relative to an error's 1.
constexpr double difference = 0.02;
constexpr int most_steps = 200;
constexpr double smallest_gain = 1e-9;  ///< Of the cost, in one step.

using Values = std::vector<double>;

double cost_of(const Values& errors, const Values& values, const std::vector<Unknown>& unknowns) {
  double cost = 0;
  for (const double error : errors)
    cost += 2 * outlier * outlier * (std::sqrt(1 + error * error / (outlier * outlier)) - 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    cost += std::pow(to_start * (values[i] - unknowns[i].start), 2);
  return cost;
}

/// Normal equations: `matrix` · step = `right`.
struct Equations {
  std::vector<Values> matrix;
  Values right;
};

/// By unknown, the derivative of each error.
std::vector<Values> derivatives(const Values& values, const Values& errors,
                                const std::vector<Unknown>& unknowns, const Errors& ask) {
  std::vector<Values> result;
  result.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    Values moved = values;
    moved[i] += moved[i] + difference > unknowns[i].highest ? -difference : difference;
    Values column = ask(moved);
    for (std::size_t row = 0; row < errors.size(); ++row)
      column[row] = (column[row] - errors[row]) / (moved[i] - values[i]);
    result.push_back(std::move(column));
  }
  return result;
}

/// Fixes an unknown at its bound, so that the other unknowns' steps are computed without it.
void hold(Equations& equations, std::size_t place) {
  for (std::size_t i = 0; i < equations.right.size(); ++i)
    equations.matrix[place][i] = equations.matrix[i][place] = 0;
  equations.matrix[place][place] = 1;
  equations.right[place] = 0;
}

Equations equations_at(const Values& values, const Values& errors,
                       const std::vector<Unknown>& unknowns, const Errors& ask) {
  const std::vector<Values> slopes = derivatives(values, errors, unknowns, ask);
  const std::size_t size = values.size();
  Equations result{std::vector<Values>(size, Values(size)), Values(size)};
  for (std::size_t row = 0; row < errors.size(); ++row) {
    const double weight = 1 / std::sqrt(1 + std::pow(errors[row] / outlier, 2));
    for (std::size_t i = 0; i < size; ++i) {
      result.right[i] -= weight * slopes[i][row] * errors[row];
      for (std::size_t j = 0; j < size; ++j)
        result.matrix[i][j] += weight * slopes[i][row] * slopes[j][row];
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    result.matrix[i][i] += to_start * to_start;
    result.right[i] -= to_start * to_start * (values[i] - unknowns[i].start);
  }
  for (std::size_t i = 0; i < size; ++i)
    if ((values[i] >= unknowns[i].highest && result.right[i] > 0) ||
        (values[i] <= unknowns[i].lowest && result.right[i] < 0))
      hold(result, i);
  return result;
}

/// Gaussian elimination; the matrix is positive definite.
Values solve(const Equations& equations, double damping) {
  std::vector<Values> matrix = equations.matrix;
  Values right = equations.right;
  const std::size_t size = right.size();
  for (std::size_t i = 0; i < size; ++i) matrix[i][i] *= 1 + damping;
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t below = i + 1; below < size; ++below) {
      const double factor = matrix[below][i] / matrix[i][i];
      for (std::size_t j = i; j < size; ++j) matrix[below][j] -= factor * matrix[i][j];
      right[below] -= factor * right[i];
    }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t j = i + 1; j < size; ++j) right[i] -= matrix[i][j] * right[j];
    right[i] /= matrix[i][i];
  }
  return right;
}

}  // namespace

std::vector<double> least_squares(const std::vector<Unknown>& unknowns, const Errors& ask) {
  Values values;
  values.reserve(unknowns.size());
  for (const Unknown& one : unknowns) values.push_back(one.start);
  Values errors = ask(values);
  double cost = cost_of(errors, values, unknowns);
  Equations equations = equations_at(values, errors, unknowns, ask);
  double damping = 1e-2;
  for (int step = 0; step < most_steps && damping < 1e8; ++step) {
    const Values move = solve(equations, damping);
    Values next = values;
    for (std::size_t i = 0; i < next.size(); ++i)
      next[i] = std::clamp(next[i] + move[i], unknowns[i].lowest, unknowns[i].highest);
    Values next_errors = ask(next);
    const double next_cost = cost_of(next_errors, next, unknowns);
    if (!(next_cost < cost)) {
      damping *= 4;
      continue;
    }
    const bool is_done = cost - next_cost < smallest_gain * cost;
    values = std::move(next), errors = std::move(next_errors), cost = next_cost;
    if (is_done) break;
    damping = std::max(damping / 5, 1e-9);
    equations = equations_at(values, errors, unknowns, ask);
  }
  return values;
}

}  // namespace symprof::profile

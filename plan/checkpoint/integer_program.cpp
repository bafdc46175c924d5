#include "plan/checkpoint/integer_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <queue>
#include <utility>

namespace symprof::plan {
namespace {

constexpr double no_solution = std::numeric_limits<double>::infinity();
/// The integrality tolerance; the relative gap below which a solution is no better.
constexpr double whole_tolerance = 1e-6, least_share_better = 1e-9;
/// Rounds of cut generation per node.
constexpr int most_row_rounds = 200;
/// Fractional parts above this are rounded up together.
constexpr double nearly_whole = 0.7;

/// The program with some variables bounded.
struct BoundNode {
  double least = 0;
  std::vector<VariableBounds> bounds;
  bool operator>(const BoundNode& other) const {
    return least != other.least ? least > other.least : bounds.size() < other.bounds.size();
  }
};

class BranchAndBound {
 public:
  BranchAndBound(const IntegerProgram& program, DualSimplex root, std::ptrdiff_t work,
                 Refusal refusal = {})
      : program_(program),
        refusal_(std::move(refusal)),
        most_work_(work),
        work_(work),
        root_(std::move(root)) {}

  IntegerAnswer run(const std::vector<VariableBounds>& bounds) {
    given_ = bounds;
    for (const VariableBounds& one : bounds) root_.set_bounds(one.variable, one.lower, one.upper);
    return run();
  }

  /// The relaxation with all the cuts it needs.
  DualSimplex relaxed() {
    solve(root_);
    return std::move(root_);
  }

 private:
  IntegerAnswer run() {
    answer_.cost = no_solution;
    const double least = solve(root_);
    if (least == no_solution) return {.least = no_solution, .work = most_work_ - work_};
    diving_heuristic();
    const std::ptrdiff_t left = std::exchange(work_, most_work_);
    open_.push({.least = least});
    double proven = least;
    while (!open_.empty() && work_ > 0) {
      const BoundNode node = open_.top();
      proven = std::max(proven, std::min(node.least, answer_.cost));
      if (is_no_better(node.least)) break;
      open_.pop();
      expand(node);
    }
    answer_.least = open_.empty() ? answer_.cost : std::min(open_.top().least, answer_.cost);
    if (work_ <= 0) answer_.least = std::min(proven, answer_.cost);
    answer_.least = std::min(answer_.least, stuck_);
    answer_.work = 2 * most_work_ - left - work_;
    return std::move(answer_);
  }

  bool is_no_better(double cost) const {
    if (cost == no_solution || answer_.cost == no_solution) return cost == no_solution;
    return cost >= answer_.cost - least_share_better * std::abs(answer_.cost);
  }

  /// The node's lower bound with all the cuts it needs, which are also added to the root;
  /// no_solution if infeasible.
  double solve(DualSimplex& simplex) {
    for (int round = 0; round < most_row_rounds; ++round) {
      const DualSimplex::Outcome outcome = simplex.solve(work_);
      if (outcome == DualSimplex::Outcome::impossible) return no_solution;
      if (outcome == DualSimplex::Outcome::stopped) break;
      work_ -= program_.work_of_rows;
      const std::vector<LinearRow> rows = program_.broken_rows(simplex.values());
      if (rows.empty() && !refuse(simplex)) break;
      for (const LinearRow& row : rows) add(simplex, row);
    }
    return simplex.bound();
  }

  void add(DualSimplex& simplex, const LinearRow& row) {
    const auto shared = std::make_shared<const LinearRow>(row);
    simplex.add(shared);
    if (&simplex != &root_) root_.add(shared);
  }

  /// True if a cut was added that an integral solution violates.
  bool refuse(DualSimplex& simplex) {
    if (!refusal_) return false;
    const std::vector<double> values = simplex.values();
    if (branching(values) >= 0) return false;
    work_ -= program_.work_of_refusal;
    const std::optional<LinearRow> row = refusal_(values);
    if (row) add(simplex, *row);
    return row.has_value();
  }

  /// Of the fractional variables of the lowest rank, the one with the largest `part`; -1: none.
  int best_fractional(const std::vector<double>& values, double (*part)(double)) const {
    int found = -1;
    double best = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_fractional(values, i)) continue;
      const double worth = part(values[i]) - *program_.ranks[i];
      if (found < 0 || worth > best) best = worth, found = static_cast<int>(i);
    }
    return found;
  }

  /// The branching variable.
  int branching(const std::vector<double>& values) const {
    return best_fractional(values, from_whole);
  }

  /// True if the values are integral; they become the incumbent if they satisfy all rows.
  bool take_if_whole(const DualSimplex& simplex) {
    std::vector<double> values = simplex.values();
    if (branching(values) >= 0) return false;
    if (!take(std::move(values))) stuck_ = std::min(stuck_, simplex.bound());
    return true;
  }

  bool take(std::vector<double> values) {
    if (!program_.broken_rows(values).empty() || (refusal_ && refusal_(values))) return false;
    double cost = 0;
    for (std::size_t i = 0; i < values.size(); ++i) cost += values[i] * program_.costs[i];
    if (cost < answer_.cost) answer_.cost = cost, answer_.values = std::move(values);
    return true;
  }

  void expand(const BoundNode& node) {
    DualSimplex simplex = root_;
    work_ -= static_cast<std::ptrdiff_t>(simplex.rows() * program_.costs.size());
    for (const VariableBounds& bounds : node.bounds)
      simplex.set_bounds(bounds.variable, bounds.lower, bounds.upper);
    const double least = std::max(solve(simplex), node.least);
    if (is_no_better(least)) return;
    if (work_ <= 0 || take_if_whole(simplex)) return;
    const int variable = branching(simplex.values());
    const double value = simplex.values()[static_cast<std::size_t>(variable)];
    const auto [lower, upper] = bounds_of(node, variable);
    BoundNode down{.least = least, .bounds = node.bounds},
        up{.least = least, .bounds = node.bounds};
    down.bounds.push_back({variable, lower, std::floor(value)});
    up.bounds.push_back({variable, std::ceil(value), upper});
    open_.push(std::move(down));
    open_.push(std::move(up));
  }

  std::pair<double, double> bounds_of(const BoundNode& node, int variable) const {
    std::pair<double, double> bounds{program_.lower[static_cast<std::size_t>(variable)],
                                     program_.upper[static_cast<std::size_t>(variable)]};
    for (const VariableBounds& one : given_)
      if (one.variable == variable) bounds = {one.lower, one.upper};
    for (const VariableBounds& one : node.bounds)
      if (one.variable == variable) bounds = {one.lower, one.upper};
    return bounds;
  }

  /// Rounds variables up step by step, nearly integral ones together, and the nearest one
  /// down where rounding up is infeasible.
  void diving_heuristic() {
    DualSimplex simplex = root_;
    while (work_ > 0 && !take_if_whole(simplex)) {
      const std::vector<double> values = simplex.values();
      const int nearest = best_fractional(values, above_whole);
      const DualSimplex before = simplex;
      work_ -= static_cast<std::ptrdiff_t>(simplex.rows() * program_.costs.size());
      for (std::size_t i = 0; i < values.size(); ++i)
        if (static_cast<int>(i) == nearest ||
            (is_fractional(values, i) && above_whole(values[i]) > nearly_whole))
          simplex.set_bounds(static_cast<int>(i), std::ceil(values[i]), std::ceil(values[i]));
      const double least = solve(simplex);
      if (least < no_solution) {
        if (is_no_better(least)) return;
        continue;
      }
      simplex = before;
      const double down = std::floor(values[static_cast<std::size_t>(nearest)]);
      simplex.set_bounds(nearest, down, down);
      if (solve(simplex) == no_solution) return;
    }
  }

  static double above_whole(double value) { return value - std::floor(value); }
  static double from_whole(double value) { return std::abs(value - std::round(value)); }
  bool is_fractional(const std::vector<double>& values, std::size_t i) const {
    return program_.ranks[i] && from_whole(values[i]) > whole_tolerance;
  }

  const IntegerProgram& program_;
  Refusal refusal_;
  std::ptrdiff_t most_work_, work_;
  DualSimplex root_;
  std::vector<VariableBounds> given_;
  IntegerAnswer answer_;
  double stuck_ = no_solution;  // The least bound of integral nodes whose values were rejected.
  std::priority_queue<BoundNode, std::vector<BoundNode>, std::greater<>> open_;
};

}  // namespace

IntegerSolver::IntegerSolver(IntegerProgram program, std::ptrdiff_t most_work)
    : program_(std::move(program)),
      root_(BranchAndBound(program_, DualSimplex(program_.costs, program_.lower, program_.upper),
                           most_work)
                .relaxed()) {}

IntegerAnswer IntegerSolver::solve(const std::vector<VariableBounds>& bounds,
                                   std::ptrdiff_t most_work, const Refusal& refusal) const {
  return BranchAndBound(program_, root_, most_work, refusal).run(bounds);
}

}  // namespace symprof::plan

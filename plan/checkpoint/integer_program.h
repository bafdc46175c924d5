// Mixed-integer linear programs: branch and bound (Land and Doig, Econometrica 28, 1960), with rows
// generated lazily when a solution violates them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "plan/checkpoint/dual_simplex.h"

namespace symprof::plan {

struct IntegerProgram {
  std::vector<double> costs, lower, upper;  ///< By variable.
  /// By variable: branching order, lower ranks first; empty: continuous.
  std::vector<std::optional<int>> ranks;
  /// Returns the rows that these values violate; empty: all are satisfied.
  std::function<std::vector<LinearRow>(const std::vector<double>&)> broken_rows;
  /// The work of one call of broken_rows, in tableau cells.
  std::ptrdiff_t work_of_rows = 0;
  /// The work of one call of a Refusal, in tableau cells.
  std::ptrdiff_t work_of_refusal = 0;
};

/// Bounds of a variable that replace the program's.
struct VariableBounds {
  int variable = 0;
  double lower = 0, upper = 0;
};

struct IntegerAnswer {
  double least = 0;            ///< A lower bound of the cost; infinite: infeasible.
  std::vector<double> values;  ///< Of the best solution found; empty: none.
  double cost = 0;             ///< Of that solution.
  std::ptrdiff_t work = 0;     ///< Tableau cells changed.
};

using Refusal = std::function<std::optional<LinearRow>(const std::vector<double>&)>;

/// Solves one program repeatedly with other bounds. Answers do not depend on earlier ones.
class IntegerSolver {
 public:
  /// Solves the relaxation from which every search begins, with at most `most_work` tableau cells
  /// changed.
  IntegerSolver(IntegerProgram program, std::ptrdiff_t most_work);

  /// The work limit for finding a first solution is `most_work` tableau cells; the limit for
  /// improving it is the same again. If a limit is reached, IntegerAnswer::least is only a lower
  /// bound. `refusal` is called with an integral solution that satisfies all rows: it returns a cut
  /// if that solution is infeasible for another reason, else nothing.
  IntegerAnswer solve(const std::vector<VariableBounds>& bounds, std::ptrdiff_t most_work,
                      const Refusal& refusal = {}) const;

 private:
  IntegerProgram program_;
  DualSimplex root_;
};

}  // namespace symprof::plan

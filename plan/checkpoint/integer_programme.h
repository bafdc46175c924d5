// Linear programmes of which some variables are whole numbers: branch and bound (Land and Doig,
// Econometrica 28, 1960), whose rows are added when a solution needs them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "plan/checkpoint/dual_simplex.h"

namespace symprof::plan {

struct IntegerProgramme {
  std::vector<double> costs, lower, upper;  ///< By variable.
  /// By variable: those of a lower rank are made whole first; empty: it may be any number.
  std::vector<std::optional<int>> ranks;
  /// Rows that the values do not keep; empty: they keep all.
  std::function<std::vector<LinearRow>(const std::vector<double>&)> broken_rows;
  /// What may be solutions, near the values of a relaxation; empty: nobody knows any. They count
  /// where they keep all rows, though a search binds their variables otherwise.
  std::function<std::vector<std::vector<double>>(const std::vector<double>&)> near_whole;
  /// What it takes to ask for broken rows, in cells of tableaus.
  std::ptrdiff_t work_of_rows = 0;
  /// The same for a Refusal.
  std::ptrdiff_t work_of_refusal = 0;
};

/// A variable with other bounds than the programme's.
struct VariableBounds {
  int variable = 0;
  double lower = 0, upper = 0;
};

struct IntegerAnswer {
  double least = 0;            ///< No solution costs less; endless: there is none.
  std::vector<double> values;  ///< Of the cheapest that was found; empty: none was.
  double cost = 0;             ///< Of these.
  std::ptrdiff_t work = 0;     ///< Cells of tableaus that were changed.
};

using Refusal = std::function<std::optional<LinearRow>(const std::vector<double>&)>;

/// Solves a programme again and again with some other bounds. An answer does not depend on those
/// before it.
class IntegerSolver {
 public:
  /// Every search begins with the relaxation of the programme as it is, for which `most_work` cells
  /// of tableaus are changed.
  IntegerSolver(IntegerProgramme programme, std::ptrdiff_t most_work);

  /// `most_work` cells are changed for a first solution, a part of them where one is known near the
  /// relaxation, and as many in the search for better ones: where it ends for that, others may be
  /// as cheap as IntegerAnswer::least. `refusal` gives a row that a whole solution breaks though it
  /// keeps all others: what is found out about single solutions alone. It is empty where there is
  /// none.
  IntegerAnswer solve(const std::vector<VariableBounds>& bounds, std::ptrdiff_t most_work,
                      const Refusal& refusal = {}) const;

 private:
  IntegerProgramme programme_;
  DualSimplex root_;
};

}  // namespace symprof::plan

// A model's costs as formulas of its sizes: polynomials fitted to exact profiles at some sizes and
// checked against profiles at others.
//
// Public header.
#pragma once

#include <vector>

#include "plan/formulas/formula.h"
#include "plan/formulas/size_samples.h"

namespace symprof::plan {

struct Formulas {
  std::vector<Variable> variables;
  std::vector<SizeLine> lines;          ///< Sizes measured along each variable, others fixed.
  std::vector<SizeLine> rounder_lines;  ///< The same at rounder sizes; empty: not needed.
  std::vector<Formula> formulas;        ///< One for each figure.
  int fitted = 0;                       ///< Profiles that the polynomials were fitted to.
  int checked = 0;                      ///< Profiles at other sizes that checked them.
  std::vector<RefusedSize> refused;
};

/// Measures the figures along each variable to find their degrees, then at the smallest grid that
/// determines polynomials of these degrees, then at distant sizes and at multiples of smaller
/// numbers. A figure gets a formula only if all measurements agree. For figures without one, the
/// same is done at multiples of 128, and the result must match all measurements at the multiples
/// that it holds for. Throws Error when a variable has too few sizes, and the model's own error at
/// the starts.
Formulas find_formulas(const std::vector<Variable>& variables, const Measure& measure);

}  // namespace symprof::plan

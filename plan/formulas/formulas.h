// What a model costs as formulas of its sizes: polynomials that are found from exact profiles at
// some sizes and held against profiles at others.
//
// Public header.
#pragma once

#include <vector>

#include "plan/formulas/formula.h"
#include "plan/formulas/size_samples.h"

namespace symprof::plan {

struct Formulas {
  std::vector<Variable> variables;
  std::vector<SizeLine> lines;          ///< What was tried of each variable while the others rest.
  std::vector<SizeLine> rounder_lines;  ///< Further tries at rounder sizes; empty: not needed.
  std::vector<Formula> formulas;        ///< One for each figure.
  int fitted = 0;                       ///< Profiles that made the polynomials.
  int checked = 0;                      ///< Profiles at other sizes that tested them.
  std::vector<RefusedSize> refused;
};

/// Measures the figures along each variable to see of which degree they are, then at the smallest
/// grid that fixes polynomials of these degrees, then at sizes far from it and at sizes that are
/// multiples of less. A figure gets a formula only where every one of these measurements agrees.
/// Where figures are left without one, the same is done at multiples of 128, and what is found
/// there must agree with all measurements at the multiples that it holds for. Throws Error when a
/// variable has too few sizes, and the model's own at the starts.
Formulas find_formulas(const std::vector<Variable>& variables, const Measure& measure);

}  // namespace symprof::plan

// Polynomials as people write them: 24·batch·seq² + 9,216·batch·seq + 4,096.
#pragma once

#include <string>
#include <vector>

#include "plan/formulas/formulas.h"
#include "report/formulas/formula_figures.h"

namespace symprof::report {

/// "3/2·seq² − seq + 4,096"; "0" without terms.
std::string polynomial_text(const plan::Polynomial& polynomial,
                            const std::vector<plan::Variable>& variables);

/// "batch=8, seq=512"
std::string sizes_text(const plan::Sizes& sizes, const std::vector<plan::Variable>& variables);

/// "seq in multiples of 128", empty where any size will do.
std::string multiples_text(const plan::Sizes& multiples,
                           const std::vector<plan::Variable>& variables);

/// "1.20 GiB are measured at batch=8, seq=512, where 1.19 GiB would continue the polynomial"
std::string mismatch_text(const plan::Formula& formula, FigureUnit unit,
                          const std::vector<plan::Variable>& variables);

}  // namespace symprof::report

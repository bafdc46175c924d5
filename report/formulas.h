// Formulas of a model's figures, as text and as JSON (schema symprof.formulas/1).
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "plan/peak_moments.h"
#include "report/formula_figures.h"
#include "report/layout.h"
#include "shape/step.h"

namespace symprof::report {

struct FormulaReport {
  Profile first;  ///< At the variables' starts.
  FigureList list;
  plan::Formulas found;  ///< One formula for each figure of the list.
  /// Where in the step the allocator's peak was, at every size that was tried.
  std::map<plan::Sizes, std::string> peaks;
  /// Of peak_requested_bytes, where it is no polynomial but the largest of several.
  std::vector<plan::PeakMoment> moments;
};

/// Coverage, a formula for each number of each row, the totals, and what they were found from.
void write_formulas(fmt::memory_buffer& out, const FormulaReport& report,
                    const StepOptions& options, const std::vector<Column>& columns,
                    const Layout& layout);

void write_formulas_json(fmt::memory_buffer& out, const FormulaReport& report,
                         const StepOptions& options);

}  // namespace symprof::report

// Formulas of a model's figures, as text and as JSON (schema symprof.formulas/1).
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/setting.h"
#include "record/step_options.h"
#include "report/formulas/formula_report.h"
#include "report/write/layout.h"

namespace symprof::report {

/// The question for formulas of the totals, of these rows and columns; `list` receives their order
/// and has to outlive the question.
FormulaQuestion question_about(FigureList& list, std::vector<std::string> dimensions,
                               const RowOptions& rows, const std::vector<Column>& columns);

using PeaksBySize = std::map<plan::Sizes, SizedPeak>;

/// How far one peak is above another.
struct Excess {
  double least_percent = 0, most_percent = 0;
};

/// Bytes that rounding and unsplit blocks add to the requested bytes.
Excess allocated_excess(const PeaksBySize& peaks);
/// Bytes that rounding and cached memory add to the requested bytes.
Excess reserved_excess(const PeaksBySize& peaks);

/// Coverage, a formula for each number of each row, the totals, and the profiles that they are
/// fitted to.
void write_formulas(fmt::memory_buffer& out, const FormulaReport& report,
                    const StepOptions& options, const std::vector<Column>& columns,
                    const Layout& layout);

/// Schema symprof.formulas/1.
void write_formulas_json(fmt::memory_buffer& out, const FormulaReport& report,
                         const Settings& settings, SettingSpeller spell = spell_plainly);

}  // namespace symprof::report

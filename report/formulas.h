// Formulas of a model's figures, as text and as JSON (schema symprof.formulas/1).
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/setting.h"
#include "plan/formulas/peak_moments.h"
#include "record/step_options.h"
#include "report/formula_figures.h"
#include "report/layout.h"

namespace symprof::report {

/// The allocator at one size.
struct PeakAt {
  std::string place;  ///< Of the peak of allocated bytes: "backward at linear_47".
  std::int64_t requested_bytes = 0, allocated_bytes = 0, reserved_bytes = 0;
};
using PeaksBySize = std::map<plan::Sizes, PeakAt>;

struct FormulaReport {
  Profile first;  ///< At the variables' starts.
  FigureList list;
  plan::Formulas found;  ///< One formula for each figure of the list.
  PeaksBySize peaks;     ///< At every size that was tried.
  /// Of peak_requested_bytes, where it is no polynomial but the largest of several.
  std::vector<plan::PeakMoment> moments;
};

/// How far one peak is above another.
struct Excess {
  double least_percent = 0, most_percent = 0;
};

/// What rounding and blocks that are not split add to what was asked for.
Excess allocated_excess(const PeaksBySize& peaks);
/// The same with what the allocator keeps free.
Excess reserved_excess(const PeaksBySize& peaks);

/// Coverage, a formula for each number of each row, the totals, and what they were found from.
void write_formulas(fmt::memory_buffer& out, const FormulaReport& report,
                    const StepOptions& options, const std::vector<Column>& columns,
                    const Layout& layout);

void write_formulas_json(fmt::memory_buffer& out, const FormulaReport& report,
                         const StepOptions& options, SettingSpeller spell = spell_plainly);

}  // namespace symprof::report

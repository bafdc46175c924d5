#include "cli/symbolic.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/formats.h"
#include "cli/profile_formats.h"
#include "report/formulas/formulas.h"
#include "report/write/option_spelling.h"
#include "session/formulas.h"

namespace symprof::cli {
namespace {

/// Formulas of the totals and of the requested rows and columns.
report::FormulaReport find(const ProfileOptions& options) {
  report::FormulaReport report;
  Session session(options.model);
  static_cast<FormulaAnswer&>(report) = find_formulas(
      session, options.settings,
      report::question_about(report.list, options.symbolic, options.rows, options.columns));
  return report;
}

}  // namespace

int profile_symbolically(const ProfileOptions& options, ProgressBar& progress) {
  const report::FormulaReport report = find(options);
  fmt::memory_buffer out;
  write_formulas(out, report, options);
  progress.clear();
  write_result(options.output, out, options.format->format);
  return done;
}

}  // namespace symprof::cli

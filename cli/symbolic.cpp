#include "cli/symbolic.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/option_spelling.h"
#include "report/formulas.h"
#include "session/formulas.h"

namespace symprof::cli {
namespace {

/// Formulas of the totals and of the rows and columns that are asked for.
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
  options.format->write_formulas(out, report, options);
  progress.clear();
  write_output(options.output, {out.data(), out.size()}, options.format->readers);
  return done;
}

}  // namespace symprof::cli

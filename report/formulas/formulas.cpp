#include "report/formulas/formulas.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/setting.h"
#include "report/formulas/formula_text.h"
#include "report/formulas/time_curves.h"
#include "report/profile/footer.h"
#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/profile/step_options.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using plan::Formula;

Excess excess_of(const PeaksBySize& peaks, std::int64_t SizedPeak::*bytes) {
  std::optional<Excess> excess;
  for (const auto& [sizes, peak] : peaks) {
    if (peak.requested_bytes == 0) continue;
    const double percent = 100.0 * static_cast<double>(peak.*bytes - peak.requested_bytes) /
                           static_cast<double>(peak.requested_bytes);
    if (!excess) excess = Excess{percent, percent};
    excess->least_percent = std::min(excess->least_percent, percent);
    excess->most_percent = std::max(excess->most_percent, percent);
  }
  return excess.value_or(Excess{});
}

std::string place_text(const SizedPeak& peak) {
  return peak.call == none ? no_call_text : call_text(peak.phase, peak.node, peak.module);
}

/// A figure with calls without a rule is "?", or ">" and its known part.
TextCell formula_cell(const FormulaReport& report, const Formula& formula, bool is_incomplete) {
  if (!formula.polynomial) {
    const std::string where = sizes_text(formula.mismatch->sizes, report.found.variables);
    return {fmt::format("no polynomial at {}", where), "", Emphasis::alert};
  }
  const bool is_zero = formula.polynomial->terms.empty();
  if (is_incomplete && is_zero) return {"?", "", Emphasis::alert};
  std::string text = polynomial_text(*formula.polynomial, report.found.variables);
  const std::string multiples = multiples_text(formula.multiples, report.found.variables);
  if (!multiples.empty() && !is_zero) text += fmt::format(" ({})", multiples);
  if (is_incomplete) return {"> " + text, "", Emphasis::alert};
  return {text, "", is_zero ? Emphasis::faint : Emphasis::normal};
}

void write_rows(fmt::memory_buffer& out, const FormulaReport& report,
                const std::vector<Column>& columns, const Layout& layout) {
  TextTable table;
  for (const Column column : columns)
    table.columns.push_back(
        {title(column, report.list.options.unit), Align::left, column.words == Words::op ? 18 : 0});
  std::size_t cell = 0;
  for (std::size_t row = 0; row < report.list.rows.size(); ++row) {
    const Row& figures = report.list.rows[row];
    TextRow line;
    for (const Column column : columns) {
      const auto& cells = report.list.cells;
      if (is_text(column)) {
        line.cells.push_back({text_of(figures, column)});
      } else if (cell < cells.size() && cells[cell].row == row && cells[cell].column == column) {
        const Formula& formula = report.found.formulas[formula_totals().size() + cell++];
        line.cells.push_back(formula_cell(report, formula, unmodelled(figures, column) > 0));
      } else {
        line.cells.push_back({""});
      }
    }
    table.rows.push_back(std::move(line));
  }
  write(out, table, layout);
}

std::string excess_text(const Excess& excess) {
  return fmt::format("; {:.1f} to {:.1f} % above the peak requested", excess.least_percent,
                     excess.most_percent);
}

/// Why a total has no formula; of the allocator's peaks, where they went and how far off they are.
std::string reason(const FormulaReport& report, const Figure& total, const Formula& formula) {
  std::string text = mismatch_text(formula, total.unit, report.found.variables);
  const auto here = report.peaks.find(formula.mismatch ? formula.mismatch->sizes : plan::Sizes{});
  if (here == report.peaks.end() || total.line != profile::TotalsLine::peaks) return text;
  const auto& [first_sizes, first] = *report.peaks.begin();
  if (place_text(here->second) != place_text(first))
    text += fmt::format("; the peak is in {} there, in {} at {}", place_text(here->second),
                        place_text(first), sizes_text(first_sizes, report.found.variables));
  if (total.key == "peak_allocated_bytes") text += excess_text(allocated_excess(report.peaks));
  if (total.key == "peak_reserved_bytes") text += excess_text(reserved_excess(report.peaks));
  return text;
}

/// Calls without a rule that `total` lacks.
std::int64_t missing_calls(const FormulaReport& report, const Figure& total) {
  std::int64_t calls = 0;
  for (const Row& row : report.list.as_run) calls += unmodelled(row.unmodelled, total);
  return calls;
}

/// "the largest of 24·seq + 8 (backward at mul) and 4,096 (optimizer at optimizer)"
std::string moments_text(const FormulaReport& report) {
  std::string text;
  for (const plan::PeakMoment& moment : report.moments) {
    const std::string multiples = multiples_text(moment.formula.multiples, report.found.variables);
    text += fmt::format("{}{} ({}{}{})", text.empty() ? "the largest of " : " and ",
                        polynomial_text(*moment.formula.polynomial, report.found.variables),
                        call_text(moment.call, report.first.recording),
                        multiples.empty() ? "" : "; ", multiples);
  }
  return text;
}

/// True if the step has no such total: recomputation without checkpoints, the optimizer's without
/// one.
bool is_absent(const Figure& total, const Formula& formula, const StepOptions& options) {
  if (total.shown == profile::Shown::with_optimizer) return options.optimizer == Optimizer::none;
  return total.shown == profile::Shown::where_any && formula.polynomial &&
         formula.polynomial->terms.empty();
}

void write_totals(fmt::memory_buffer& out, const FormulaReport& report, const StepOptions& options,
                  const Layout& layout) {
  TextTable table;
  table.columns = {{"Total"}, {"Formula"}};
  for (std::size_t i = 0; i < formula_totals().size(); ++i) {
    const Figure& total = *formula_totals()[i];
    const Formula& formula = report.found.formulas[i];
    if (is_absent(total, formula, options)) continue;
    TextCell cell = formula_cell(report, formula, missing_calls(report, total) > 0);
    if (!formula.polynomial) cell.text = "no polynomial: " + reason(report, total, formula);
    if (i == index_of_total("peak_requested_bytes") && !report.moments.empty())
      cell = {moments_text(report)};
    table.rows.push_back({{{std::string(total.formula.label)}, std::move(cell)}});
  }
  write(out, table, layout);
}

/// "batch 8 to 48, seq 128 to 768"
std::string range_text(const std::vector<plan::SizeLine>& lines,
                       const std::vector<plan::Variable>& variables) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += fmt::format("{}{} {} to {}", i ? ", " : "", variables[i].name, lines[i].sizes.front(),
                        lines[i].sizes.back());
  return text;
}

/// Advice on a start size from which a piecewise figure may be a polynomial; empty without one, and
/// where sizes end before.
std::string start_advice(const plan::Formulas& found) {
  const auto is_missing = [](const Formula& formula) { return !formula.polynomial; };
  if (std::ranges::none_of(found.formulas, is_missing)) return "";
  for (std::size_t i = found.variables.size(); i-- > 0;) {
    const plan::Variable& variable = found.variables[i];
    const std::int64_t start = 4 * variable.start;
    if (!variable.most || 2 * start <= *variable.most)
      return fmt::format("what is no polynomial from here on may be one further on: {}",
                         setting("sizes", fmt::format("{}={}", variable.name, start)));
  }
  return "";
}

void write_origin(fmt::memory_buffer& out, const FormulaReport& report, const StepOptions& options,
                  const Layout& layout) {
  const plan::Formulas& found = report.found;
  std::string ranges = range_text(found.lines, found.variables);
  if (!found.rounder_lines.empty())
    ranges += ", and where it is rounded " + range_text(found.rounder_lines, found.variables);
  write_line(out, "step", step_text(options), layout);
  write_line(out, "device", name(options.device), layout);
  write_line(out, "found",
             fmt::format("from {} profiles and checked with {} others, {}", found.fitted,
                         found.checked, ranges),
             layout);
  if (const std::string advice = start_advice(found); !advice.empty())
    write_line(out, "piecewise", advice, layout);
  for (const plan::RefusedSize& refused : found.refused)
    write_line(out, "refused",
               fmt::format("{}: {}", sizes_text(refused.sizes, found.variables), refused.reason),
               layout);
  for (const std::string& warning : report.first.warnings)
    write_line(out, "warning", emphasize(warning, Emphasis::alert, layout.color), layout);
}

}  // namespace

FormulaQuestion question_about(FigureList& list, std::vector<std::string> dimensions,
                               const RowOptions& rows, const std::vector<Column>& columns) {
  const auto listed = [&list, rows, columns](const Profile& profile) {
    if (list.as_run.empty()) list = list_figures(profile, rows, columns);
    return figures(profile, list);
  };
  return {.dimensions = std::move(dimensions),
          .figures = listed,
          .requested_peak = index_of_total("peak_requested_bytes")};
}

Excess allocated_excess(const PeaksBySize& peaks) {
  return excess_of(peaks, &SizedPeak::allocated_bytes);
}

Excess reserved_excess(const PeaksBySize& peaks) {
  return excess_of(peaks, &SizedPeak::reserved_bytes);
}

void write_formulas(fmt::memory_buffer& out, const FormulaReport& report,
                    const StepOptions& options, const std::vector<Column>& columns,
                    const Layout& layout) {
  fmt::format_to(std::back_inserter(out), "{}: {}\n\n",
                 emphasize(report.first.recording.path, Emphasis::strong, layout.color),
                 coverage_line(report.first.coverage));
  write_rows(out, report, columns, layout);
  out.push_back('\n');
  write_totals(out, report, options, layout);
  out.push_back('\n');
  write_time_curves(out, report, layout);
  write_origin(out, report, options, layout);
}

}  // namespace symprof::report

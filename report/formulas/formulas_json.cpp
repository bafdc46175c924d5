#include <string_view>

#include "base/setting.h"
#include "report/formulas/formula_text.h"
#include "report/formulas/formulas.h"
#include "report/formulas/time_curves.h"
#include "report/profile/memory_text.h"
#include "report/profile/step_options.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

using plan::Formula;
using plan::Formulas;

void write_sizes(JsonWriter& json, const plan::Sizes& sizes, const Formulas& found) {
  json.begin_object();
  for (std::size_t i = 0; i < sizes.size(); ++i) json.member(found.variables[i].name, sizes[i]);
  json.end_object();
}

/// Text, for a fraction or more than 64 bits are no number of JSON: "9216", "-3/2".
std::string coefficient_text(const plan::Rational& coefficient) {
  if (coefficient.is_integer()) return coefficient.numerator();
  return coefficient.numerator() + "/" + coefficient.denominator();
}

void write_term(JsonWriter& json, const plan::Term& term, const Formulas& found) {
  json.begin_object();
  json.member("coefficient", coefficient_text(term.coefficient));
  json.key("powers");
  json.begin_object();
  for (std::size_t i = 0; i < term.powers.size(); ++i)
    if (term.powers[i] > 0) json.member(found.variables[i].name, std::int64_t{term.powers[i]});
  json.end_object();
  json.end_object();
}

void write_polynomial(JsonWriter& json, const Formula& formula, const Formulas& found) {
  json.member("text", polynomial_text(*formula.polynomial, found.variables));
  json.key("terms");
  json.begin_array();
  for (const plan::Term& term : formula.polynomial->terms) write_term(json, term, found);
  json.end_array();
  json.key("multiples_of");
  write_sizes(json, formula.multiples, found);
}

void write_mismatch(JsonWriter& json, const Formula& formula, FigureUnit unit,
                    const Formulas& found) {
  json.member("no_formula", mismatch_text(formula, unit, found.variables));
  json.key("at");
  write_sizes(json, formula.mismatch->sizes, found);
  json.member("measured", formula.mismatch->measured);
  json.member("predicted", coefficient_text(formula.mismatch->predicted));
}

void write_formula(JsonWriter& json, std::string_view key, const Formula& formula, FigureUnit unit,
                   const Formulas& found) {
  json.key(key);
  json.begin_object();
  if (formula.polynomial)
    write_polynomial(json, formula, found);
  else
    write_mismatch(json, formula, unit, found);
  json.end_object();
}

void write_variables(JsonWriter& json, const Formulas& found) {
  json.key("variables");
  json.begin_array();
  for (std::size_t i = 0; i < found.variables.size(); ++i) {
    json.line(4);
    json.begin_object();
    json.member("name", found.variables[i].name);
    json.member("start", found.variables[i].start);
    json.list("sizes", found.lines[i].sizes);
    json.key("rounder_sizes");
    json.begin_array();
    if (!found.rounder_lines.empty())
      for (const std::int64_t size : found.rounder_lines[i].sizes) json.value(size);
    json.end_array();
    json.end_object();
  }
  json.closing_line(2);
  json.end_array();
}

void write_origin(JsonWriter& json, const Formulas& found) {
  json.key("profiles");
  json.begin_object();
  json.member("fitted", std::int64_t{found.fitted});
  json.member("checked", std::int64_t{found.checked});
  json.end_object();
  json.key("refused");
  json.begin_array();
  for (const plan::RefusedSize& refused : found.refused) {
    json.begin_object();
    json.key("at");
    write_sizes(json, refused.sizes, found);
    json.spelled_member("reason", refused.reason);
    json.end_object();
  }
  json.end_array();
}

/// Formulas whose largest is peak_requested_bytes; null where that is one formula, or none.
void write_moments(JsonWriter& json, const FormulaReport& report) {
  json.key("peak_requested_is_largest_of");
  if (report.moments.empty()) return json.null();
  json.begin_array();
  for (const plan::PeakMoment& moment : report.moments) {
    json.begin_object();
    json.member("at", call_text(moment.call, report.first.recording));
    write_polynomial(json, moment.formula, report.found);
    json.end_object();
  }
  json.end_array();
}

/// In per cent over the sizes that were tried.
void write_excess(JsonWriter& json, std::string_view key, const Excess& excess) {
  json.key(key);
  json.begin_object();
  json.member("least_percent", excess.least_percent);
  json.member("most_percent", excess.most_percent);
  json.end_object();
}

void write_totals(JsonWriter& json, const FormulaReport& report) {
  json.key("totals");
  json.begin_object();
  for (std::size_t i = 0; i < formula_totals().size(); ++i) {
    const Figure& total = *formula_totals()[i];
    json.line(4);
    write_formula(json, in_unit(total.key, total, report.list.options.unit),
                  report.found.formulas[i], total.unit, report.found);
  }
  json.line(4);
  write_moments(json, report);
  json.line(4);
  write_excess(json, "allocated_above_requested", allocated_excess(report.peaks));
  write_excess(json, "reserved_above_requested", reserved_excess(report.peaks));
  json.closing_line(2);
  json.end_object();
}

/// A sum that lacks the call of an operator without a rule is not known.
void write_row(JsonWriter& json, const FormulaReport& report, std::size_t index,
               std::size_t& cell) {
  const Row& row = report.list.rows[index];
  json.begin_object();
  json.member("op_type", row.op_type);
  json.member("op", row.op);
  json.member("module", row.module);
  for (; cell < report.list.cells.size() && report.list.cells[cell].row == index; ++cell) {
    const Column column = report.list.cells[cell].column;
    const std::string key = csv_name(column, report.list.options.unit);
    if (unmodelled(row, column) > 0)
      json.null_member(key);
    else
      write_formula(json, key, report.found.formulas[formula_totals().size() + cell],
                    column.figure->unit, report.found);
  }
  json.end_object();
}

}  // namespace

void write_formulas_json(fmt::memory_buffer& out, const FormulaReport& report,
                         const Settings& settings, SettingSpeller spell) {
  JsonWriter json(out, spell);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.formulas/1");
  json.line(2);
  json.member("model", report.first.recording.path);
  json.line(2);
  write_settings(json, settings);
  json.line(2);
  write_variables(json, report.found);
  json.line(2);
  write_origin(json, report.found);
  json.line(2);
  json.member("calls_without_rule", report.first.coverage.unmodelled);
  json.line(2);
  write_totals(json, report);
  json.line(2);
  write_time_curves(json, report);
  json.line(2);
  json.key("rows");
  json.begin_array();
  std::size_t cell = 0;
  for (std::size_t row = 0; row < report.list.rows.size(); ++row) {
    json.line(4);
    write_row(json, report, row, cell);
  }
  json.closing_line(2);
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report

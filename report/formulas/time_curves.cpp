#include "report/formulas/time_curves.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/formulas/formula_text.h"
#include "report/profile/footer.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using plan::CurvePiece;

constexpr std::array<std::string_view, 5> curve_units = {"ps", "ns", "µs", "ms", "s"};

/// Four digits, as small as the coefficient of a square may be.
std::string time_coefficient(double us) {
  double value = us * 1e6;
  std::size_t unit = 0;
  for (; unit + 1 < curve_units.size() && value >= 999.95; ++unit) value /= 1000;
  const int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : 1;
  return fmt::format("{:.{}f} {}", value, decimals, curve_units[unit]);
}

/// "8 to 12", "9".
std::string sizes_of(const CurvePiece& piece) {
  if (piece.first == piece.last) return group_digits(piece.first);
  return fmt::format("{} to {}", group_digits(piece.first), group_digits(piece.last));
}

/// Half of the interval in per cent, of the step at this size.
double width_of(const TimedSize& step) { return 50 * (step.high_us - step.low_us) / step.step_us; }

/// In the middle of a piece: at its ends two things may decide.
profile::Limit limit_of(const TimeCurve& curve, const CurvePiece& piece) {
  return curve.steps.lower_bound((piece.first + piece.last) / 2)->second.limit;
}

std::string break_text(const TimeCurve& curve, std::size_t index) {
  if (index + 1 >= curve.curve.pieces.size()) return "";
  const CurvePiece &piece = curve.curve.pieces[index], &next = curve.curve.pieces[index + 1];
  const profile::Limit here = limit_of(curve, piece), there = limit_of(curve, next);
  if (here == profile::Limit::host && there != here)
    return "the device no longer waits for the host";
  if (there == profile::Limit::host && there != here) return "the device waits for the host";
  const CurveBreak& found = curve.breaks[index];
  return fmt::format("{} in {}: {}{}", piece.jumps ? "jump" : "bend", found.op,
                     found.us < 0 ? "-" : "+", format_time(std::abs(found.us)));
}

/// "batch, seq=512": the dimension of a curve, and the fixed sizes of the others.
std::string title_of(const TimeCurve& curve, const FormulaReport& report) {
  const auto& variables = report.found.variables;
  std::string title = variables[curve.variable].name;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (i != curve.variable) title += fmt::format(", {}={}", variables[i].name, variables[i].start);
  return title;
}

/// Why the curve ends; empty where the requested range does.
std::string end_text(const TimeCurve& curve) {
  if (curve.end == CurveEnd::memory) return "what is larger does not fit into the device";
  if (curve.end != CurveEnd::refused) return "";
  return fmt::format("the model refuses what is larger: {}", curve.reason);
}

void write_curve(fmt::memory_buffer& out, const TimeCurve& curve, const FormulaReport& report,
                 const Layout& layout) {
  TextTable table;
  table.columns = {{title_of(curve, report)}, {"Step"},        {"Off by"}, {"Limit"},
                   {"Nine of ten"},           {"What ends it"}};
  for (std::size_t i = 0; i < curve.curve.pieces.size(); ++i) {
    const CurvePiece& piece = curve.curve.pieces[i];
    const TimedSize& last = curve.steps.at(piece.last);
    table.rows.push_back(
        {{{sizes_of(piece)},
          {piece_text(piece, report.found.variables[curve.variable].name)},
          {fmt::format("{:.1f} %", 100 * piece.largest_error)},
          {std::string(profile::name(limit_of(curve, piece)))},
          {fmt::format("± {:.0f} %", width_of(last))},
          {i + 1 < curve.curve.pieces.size() ? break_text(curve, i) : end_text(curve)}}});
  }
  write(out, table, layout);
}

void write_piece(JsonWriter& json, const TimeCurve& curve, std::size_t index,
                 const std::string& dimension) {
  const CurvePiece& piece = curve.curve.pieces[index];
  json.begin_object();
  json.member("first", piece.first);
  json.member("last", piece.last);
  json.member("text", piece_text(piece, dimension));
  json.list("coefficients_us", piece.coefficients);
  json.member("largest_error", piece.largest_error);
  json.member("limit", profile::name(limit_of(curve, piece)));
  json.key("break");
  if (index < curve.breaks.size()) {
    json.begin_object();
    json.member("jumps", piece.jumps);
    json.member("op", curve.breaks[index].op);
    json.member("us", curve.breaks[index].us);
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
}

void write_step(JsonWriter& json, std::int64_t size, const TimedSize& step) {
  json.begin_object();
  json.member("size", size);
  json.member("step_time_us", step.step_us);
  json.member("step_time_low_us", step.low_us);
  json.member("step_time_high_us", step.high_us);
  json.member("host_time_us", step.host_us);
  json.member("busy_time_us", step.busy_us);
  json.member("limit", profile::name(step.limit));
  json.end_object();
}

std::string_view end_name(CurveEnd end) {
  constexpr std::string_view names[] = {"enough", "memory", "refused"};
  return names[static_cast<std::size_t>(end)];
}

void write_curve(JsonWriter& json, const TimeCurve& curve, const FormulaReport& report) {
  const std::string& dimension = report.found.variables[curve.variable].name;
  json.begin_object();
  json.member("dimension", dimension);
  json.key("others");
  json.begin_object();
  for (std::size_t i = 0; i < report.found.variables.size(); ++i)
    if (i != curve.variable)
      json.member(report.found.variables[i].name, report.found.variables[i].start);
  json.end_object();
  json.key("pieces");
  json.begin_array();
  for (std::size_t i = 0; i < curve.curve.pieces.size(); ++i) {
    json.line(6);
    write_piece(json, curve, i, dimension);
  }
  json.end_array();
  json.key("sizes");
  json.begin_array();
  for (const auto& [size, step] : curve.steps) {
    json.line(6);
    write_step(json, size, step);
  }
  json.end_array();
  json.member("end", end_name(curve.end));
  json.spelled_member("reason", curve.reason);
  json.end_object();
}

}  // namespace

std::string piece_text(const CurvePiece& piece, const std::string& dimension) {
  constexpr std::array<std::string_view, 3> powers = {"", "", "²"};
  std::string text;
  for (std::size_t i = 0; i < piece.coefficients.size(); ++i) {
    const double us = piece.coefficients[i];
    if (us == 0) continue;
    text += text.empty() ? (us < 0 ? "-" : "") : (us < 0 ? " - " : " + ");
    text += time_coefficient(std::abs(us));
    if (i > 0) text += fmt::format("·{}{}", dimension, powers[i]);
  }
  return text.empty() ? "0 s" : text;
}

void write_time_curves(fmt::memory_buffer& out, const FormulaReport& report, const Layout& layout) {
  for (const TimeCurve& curve : report.times) {
    write_curve(out, curve, report, layout);
    out.push_back('\n');
  }
}

void write_time_curves(JsonWriter& json, const FormulaReport& report) {
  json.key("times");
  if (report.times.empty()) return json.null();
  json.begin_array();
  for (const TimeCurve& curve : report.times) {
    json.line(4);
    write_curve(json, curve, report);
  }
  json.closing_line(2);
  json.end_array();
}

}  // namespace symprof::report

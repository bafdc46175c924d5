// Formulas as text and as JSON, for a synthetic profile whose figures grow with two sizes like a
// transformer's.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/rounding.h"
#include "report/formulas/formula_text.h"
#include "report/formulas/formulas.h"
#include "tests/support/golden.h"
#include "tests/support/named_column.h"
#include "tests/support/small_profile.h"

namespace symprof::report {
namespace {

using plan::Polynomial;
using plan::Rational;
using plan::Sizes;
using test::check_golden;
using test::column;
using test::small_options;
using test::small_profile;

const std::vector<Column> formula_columns = {column("op_type"),     column("op"),
                                             column("incremental"), column("fwd_flops"),
                                             column("bwd_flops"),   column("optimizer_flops")};

/// Requested bytes, dominated by two calls of small_profile's step.
plan::BytesByCall requested_at(const Sizes& sizes) {
  plan::BytesByCall bytes(small_profile().recording.calls.size() + 1);
  bytes[2] = 5 * sizes[0] * sizes[1] * sizes[1];  // The second call, aten::convolution_backward.
  bytes[10] = 1'000'000;                          // The tenth, aten::mul.
  return bytes;
}

/// The larger request, in segments of 2,000,000 bytes.
std::int64_t peak_at(const Sizes& sizes) {
  return symprof::round_up(std::ranges::max(requested_at(sizes)), 2'000'000);
}

/// The costs of small_profile at a batch and a sequence.
Profile profile_at(const Sizes& sizes) {
  const std::int64_t batch = sizes[0], seq = sizes[1];
  Profile profile = small_profile();
  for (NodeProfile& node : profile.nodes) {
    RowFigures& figures = node.figures;
    figures.incremental_bytes *= batch * seq;
    // A thousandth of small_profile's, so that the largest sizes stay within 64 bits.
    figures.fwd_product_flops = figures.fwd_product_flops / 1'000 * batch * seq * seq;
    figures.bwd_product_flops = figures.bwd_product_flops / 1'000 * batch * seq * seq;
    figures.bwd_other_flops *= seq;
    figures.accumulate_bytes *= batch * seq;
  }
  Totals& totals = profile.totals;
  totals.fwd_flops = 2 * batch * seq * seq;
  totals.fwd_flops_all = 2 * batch * seq * seq + batch * (seq / 2);
  totals.saved_bytes = batch * symprof::round_up(seq, 128);
  totals.tensor_peak.bytes = 4096 - batch;
  totals.peak_allocated_bytes = peak_at(sizes);
  return profile;
}

FormulaReport report_of(const RowOptions& rows = {}) {
  FormulaReport report;
  report.first = profile_at({8, 128});
  report.list = list_figures(report.first, rows, formula_columns);
  const std::vector<plan::Variable> variables = {{"batch", 8}, {"seq", 128}};
  std::map<Sizes, plan::BytesByCall> requested;
  const auto measure = [&](const Sizes& sizes) {
    requested[sizes] = requested_at(sizes);
    Profile profile = profile_at(sizes);
    const std::int64_t most = std::ranges::max(requested[sizes]);
    const bool is_late = sizes[1] > 128;
    report.peaks[sizes] = {.call = 0,
                           .phase = is_late ? Phase::optimizer : Phase::backward,
                           .node = is_late ? "optimizer" : "linear",
                           .requested_bytes = most,
                           .allocated_bytes = profile.totals.peak_allocated_bytes,
                           .reserved_bytes = 2 * most};
    profile.totals.peak_requested_bytes = most;
    return figures(profile, report.list);
  };
  report.found = plan::find_formulas(variables, measure);
  report.moments = plan::find_peak_moments(variables, requested, measure);
  return report;
}

std::string text(const FormulaReport& report) {
  fmt::memory_buffer out;
  write_formulas(out, report, small_options(), formula_columns, {});
  return fmt::to_string(out);
}

nlohmann::json json(const FormulaReport& report) {
  fmt::memory_buffer out;
  write_formulas_json(out, report, {.step = small_options()});
  return nlohmann::json::parse(fmt::to_string(out));
}

}  // namespace

TEST_SUITE("formula_report") {
  TEST_CASE("a polynomial has the usual notation") {
    const std::vector<plan::Variable> variables = {{"batch"}, {"seq"}};
    const auto written = [&](std::vector<plan::Term> terms) {
      return polynomial_text({std::move(terms)}, variables);
    };
    CHECK(written({}) == "0");
    CHECK(written({{24, {1, 2}}, {9216, {1, 1}}, {4096, {0, 0}}}) ==
          "24·batch·seq² + 9,216·batch·seq + 4,096");
    CHECK(written({{-1, {0, 3}}, {1, {1, 0}}, {-1, {0, 0}}}) == "−seq³ + batch − 1");
    CHECK(written({{Rational::of(-3, 2), {0, 12}}, {Rational::of(-1, 1024), {0, 0}}}) ==
          "−3/2·seq¹² − 1/1,024");
    const Rational large = Rational(1'000'000'000'000'000'000) * Rational(1000);
    CHECK(written({{large, {0, 1}}}) == "1,000,000,000,000,000,000,000·seq");
  }

  TEST_CASE("a figure that is no polynomial has its first deviating size and the deviation") {
    const std::vector<plan::Variable> variables = {{"batch"}, {"seq"}};
    plan::Formula formula;
    formula.mismatch = {{8, 128}, std::int64_t{3} << 30, Rational(std::int64_t{1} << 30)};
    CHECK(mismatch_text(formula, FigureUnit::bytes, variables) ==
          "3.00 GiB at batch=8, seq=128, where 1.00 GiB would continue it");
    formula.mismatch->predicted = Rational(std::int64_t{3} << 30) + Rational::of(1, 2);
    CHECK(mismatch_text(formula, FigureUnit::bytes, variables) ==
          "3,221,225,472 at batch=8, seq=128, where 3221225472.5 would continue it");
    CHECK(multiples_text({1, 128}, variables) == "seq in multiples of 128");
    CHECK(multiples_text({1, 1}, variables) == "");
  }

  TEST_CASE("text") {
    const std::string made_of = "profile_at (tests/report/formulas_test.cpp), ";
    check_golden("formulas", made_of + "formulas of its rows and totals", text(report_of()));
    check_golden("formulas_modules", made_of + "formulas in MACs, a row for the first module",
                 text(report_of({.by = By::module,
                                 .depth = 2,
                                 .sort = column("fwd_flops"),
                                 .top = 1,
                                 .unit = Unit::macs})));
  }

  TEST_CASE("JSON has the contents of the text") {
    const nlohmann::json report = json(report_of());
    CHECK(report["schema"] == "symprof.formulas/1");
    const nlohmann::json& totals = report["totals"];
    CHECK(totals.size() == formula_totals().size() + 3);
    CHECK(totals["fwd_flops_all"]["terms"] ==
          nlohmann::json::parse(R"([{"coefficient": "2", "powers": {"batch": 1, "seq": 2}},
                                    {"coefficient": "1/2", "powers": {"batch": 1, "seq": 1}}])"));
    CHECK(totals["fwd_flops_all"]["multiples_of"] == nlohmann::json{{"batch", 1}, {"seq", 2}});
    CHECK(totals["saved_bytes"]["text"] == "batch·seq");
    CHECK(totals["saved_bytes"]["multiples_of"] == nlohmann::json{{"batch", 1}, {"seq", 128}});
    CHECK(totals["peak_tensor_bytes"]["text"] == "−batch + 4,096");
    const nlohmann::json& moments = totals["peak_requested_is_largest_of"];
    REQUIRE(moments.size() == 2);
    CHECK(moments[0]["at"] == "backward at conv2d of stem");
    CHECK(moments[0]["text"] == "5·batch·seq²");
    CHECK(moments[1]["text"] == "1,000,000");
    CHECK(totals["peak_requested_bytes"].contains("no_formula"));
    const nlohmann::json& peak = totals["peak_allocated_bytes"];
    CHECK_FALSE(peak.contains("terms"));
    CHECK(peak["at"] == nlohmann::json{{"batch", 8}, {"seq", 512}});
    CHECK(peak["measured"] == peak_at({8, 512}));
    // The parabola through the three sizes before it.
    const std::int64_t next = 3 * peak_at({8, 384}) - 3 * peak_at({8, 256}) + peak_at({8, 128});
    CHECK(peak["predicted"] == std::to_string(next));
    // A row with calls without a rule is unknown.
    const nlohmann::json& odd = report["rows"][4];
    CHECK(odd["op_type"] == "acme::swizzle");
    CHECK(odd["fwd_flops"].is_null());
    CHECK(odd["incremental_bytes"]["terms"] == nlohmann::json::array());
    CHECK(report["rows"].size() == small_profile().nodes.size());
    CHECK(report["calls_without_rule"] == small_profile().coverage.unmodelled);
  }

  TEST_CASE("the excess of the allocator's peaks over the requests") {
    const auto peak = [](std::int64_t requested, std::int64_t allocated, std::int64_t reserved) {
      return SizedPeak{
          .requested_bytes = requested, .allocated_bytes = allocated, .reserved_bytes = reserved};
    };
    const PeaksBySize peaks = {{{8}, peak(1000, 1010, 2000)}, {{16}, peak(2000, 2000, 2200)}};
    CHECK(allocated_excess(peaks).least_percent == doctest::Approx(0));
    CHECK(allocated_excess(peaks).most_percent == doctest::Approx(1));
    CHECK(reserved_excess(peaks).least_percent == doctest::Approx(10));
    CHECK(reserved_excess(peaks).most_percent == doctest::Approx(100));
    CHECK(json(report_of())["totals"]["reserved_above_requested"]["most_percent"] == 100);
  }

  TEST_CASE("rows that differ between sizes are an error") {
    const Profile profile = profile_at({8, 128});
    const FigureList list = list_figures(profile, {}, formula_columns);
    Profile other = profile;
    other.recording.nodes[2].op = "aten::relu";
    CHECK_THROWS_WITH_AS(figures(other, list), doctest::Contains("row 2 is"), Error);
    other = profile;
    other.nodes.pop_back();
    other.recording.nodes.pop_back();
    CHECK_THROWS_WITH_AS(figures(other, list), doctest::Contains("7 rows at one size and 6"),
                         Error);
  }
}

}  // namespace symprof::report

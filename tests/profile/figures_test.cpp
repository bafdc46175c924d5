// The table of figures: what it says fits together, and the documents say what it says.
// SYMPROF_REWRITE_GOLDEN=1 writes the table of docs/reference/json.md.
#include "profile/figures.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "profile/figure_sums.h"
#include "report/write/option_spelling.h"
#include "tests/support/golden.h"
#include "tests/support/source_folder.h"

namespace symprof::profile {
namespace {

std::vector<std::string> lines_of(const std::string& page) {
  std::ifstream file(test::source_folder() + "/docs/" + page);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string_view text_of(FigureUnit unit) {
  switch (unit) {
    case FigureUnit::bytes:
      return "bytes";
    case FigureUnit::products:
    case FigureUnit::flops:
      return "FLOPs";
    case FigureUnit::macs:
      return "MACs";
    case FigureUnit::count:
      return "count";
    case FigureUnit::microseconds:
      return "µs";
    case FigureUnit::share:
      return "share";
  }
  return "";
}

std::string_view places_of(InJson json) {
  switch (json) {
    case InJson::nowhere:
      return "formulas";
    case InJson::nodes:
      return "nodes";
    case InJson::totals:
      return "totals";
    case InJson::nodes_and_totals:
      return "nodes, totals";
  }
  return "";
}

bool is_in_json(const Figure& figure) {
  return figure.json != InJson::nowhere || figure.formula.place > 0;
}

/// The figure's line in docs/reference/json.md.
std::string documented(const Figure& figure) {
  const bool is_computed = figure.counter != nullptr || figure.total != nullptr;
  return fmt::format("| `{}` | {} | {} | {}{} |", figure.key, text_of(figure.unit),
                     places_of(figure.json), spelled_names(figure.meaning, report::spell_as_option),
                     is_computed ? "" : ": `null`");
}

}  // namespace

TEST_SUITE("figures") {
  TEST_CASE("keys and counters are unique, and every counter has a figure") {
    std::set<std::string_view> keys;
    std::size_t counters = 0;
    RowFigures row;
    for (const Figure& figure : figures()) {
      INFO("figure: " << figure.key);
      CHECK(keys.insert(figure.key).second);
      CHECK(&figure_of(figure.key) == &figure);
      if (figure.counter == nullptr) continue;
      ++counters;
      CHECK(row.*figure.counter == 0);
      row.*figure.counter = 1;
    }
    constexpr std::size_t confidence = 1;  // Padded to a counter's size.
    CHECK(sizeof(RowFigures) == (counters + confidence) * sizeof(std::int64_t) + sizeof(RowTimes));
    CHECK_THROWS_AS(figure_of("nothing"), Error);
  }

  TEST_CASE("every figure is complete") {
    for (const Figure& figure : figures()) {
      INFO("figure: " << figure.key);
      const bool is_in_nodes =
          figure.json == InJson::nodes || figure.json == InJson::nodes_and_totals;
      CHECK_FALSE(figure.meaning.empty());
      const bool is_time =
          figure.unit == FigureUnit::microseconds || figure.unit == FigureUnit::share;
      CHECK((figure.cost == nullptr) == (figure.calls == CallsOf::none || is_time));
      CHECK((figure.cost == nullptr || figure.counter != nullptr));
      CHECK((figure.fold == Fold::running) == (figure.summed != nullptr));
      CHECK((figure.column.name.empty() || figure.counter != nullptr));
      CHECK(figure.column.name.empty() == figure.column.title.empty());
      CHECK((figure.formula.place == 0 || figure.total != nullptr));
      CHECK((figure.counter == nullptr || is_in_nodes || !figure.column.name.empty()));
    }
  }

  TEST_CASE("a call counts in the figures of its phase") {
    RowFigures row;
    const Cost cost{.product_flops = 100,
                    .other_flops = 1,
                    .bytes_read = 12,
                    .bytes_written = 4,
                    .confidence = Confidence::exact};
    for (const Phase phase : {Phase::forward, Phase::loss, Phase::backward, Phase::recompute,
                              Phase::recompute, Phase::optimizer})
      add_call(row, phase, cost);
    CHECK(row.calls == 6);
    CHECK(row.confidence == Confidence::exact);
    CHECK(value_of(figure_of("fwd_flops"), row) == 200);
    CHECK(value_of(figure_of("fwd_flops_all"), row) == 202);
    CHECK(value_of(figure_of("bwd_flops_all"), row) == 303);
    CHECK(value_of(figure_of("recompute_flops_all"), row) == 202);
    CHECK(value_of(figure_of("optimizer_flops"), row) == 101);
    CHECK(value_of(figure_of("moved_bytes"), row) == 32);
    CHECK_FALSE(value_of(figure_of("param_count"), row).has_value());
  }

  TEST_CASE("a row has times if requested, and folds their limits") {
    RowFigures row, other;
    row.fwd_time_ns = 7;
    CHECK_FALSE(value_of(figure_of("fwd_time_us"), row).has_value());
    other.times.are_there = true, other.times.unknown.backward = 2, other.times.limited_ns[3] = 5;
    other.fwd_time_ns = 3;
    add_node(row, other);
    CHECK(value_of(figure_of("fwd_time_us"), row) == 10);
    CHECK(row.times.unknown.backward == 2);
    CHECK(row.times.limited_ns[3] == 5);
  }

  TEST_CASE("figures fold as declared") {
    RowFigures one, other, sums;
    for (const Figure& figure : figures())
      if (figure.counter != nullptr) one.*figure.counter = 2, other.*figure.counter = 3;
    RowFigures node = one, rest = one;
    add_node(node, other);
    add_row(rest, other);
    for (const Figure& figure : figures()) {
      if (figure.counter == nullptr) continue;
      INFO("figure: " << figure.key);
      CHECK(node.*figure.counter == (figure.fold == Fold::sum ? 5 : 2));
      CHECK(rest.*figure.counter == (figure.fold == Fold::running ? 2 : 5));
    }
    run_on(sums, one);
    run_on(sums, other);
    CHECK(one.accumulate_bytes == 2);
    CHECK(other.accumulate_bytes == 5);
  }

  TEST_CASE("docs/reference/json.md has every figure: its unit, where it is, and what it means") {
    std::string page;
    bool is_in_table = false;
    for (const std::string& line : lines_of("reference/json.md")) {
      is_in_table = is_in_table && line.starts_with("|");
      if (is_in_table && line.starts_with("| `")) continue;
      page += line + "\n";
      if (line.starts_with("| figure |")) is_in_table = true;
      if (!is_in_table || !line.starts_with("| --- |")) continue;
      for (const Figure& figure : figures())
        if (is_in_json(figure)) page += documented(figure) + "\n";
    }
    test::check_file(test::source_folder() + "/docs/reference/json.md", page);
  }

  TEST_CASE("docs/concepts/figures.md says what the columns mean that a table has unasked") {
    std::vector<std::string> documented_titles, expected;
    bool is_in_table = false;
    for (const std::string& line : lines_of("concepts/figures.md")) {
      is_in_table = line.starts_with("| column |") || (is_in_table && line.starts_with("|"));
      if (is_in_table && !line.starts_with("| column |") && !line.starts_with("| --- |"))
        documented_titles.push_back(line.substr(2, line.find(" |", 2) - 2));
    }
    for (const Figure& figure : figures())
      if (!figure.column.name.empty() &&
          (figure.shown == Shown::always || figure.shown == Shown::with_optimizer))
        expected.emplace_back(figure.column.title);
    CHECK(documented_titles == expected);
  }
}

}  // namespace symprof::profile

// Rows of model pairs compared as by onnx-array-api: tests/workbench/golden/rows/.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "report/compare/rows.h"
#include "tests/support/workbench_files.h"
#include "workbench/compare/align.h"

namespace symprof::workbench_align_test {
namespace {

using namespace workbench;
using nlohmann::json;

double number_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "inf" ? std::numeric_limits<double>::infinity()
                       : -std::numeric_limits<double>::infinity();
}

RowKind kind_of(const std::string& text) {
  static const std::map<std::string, RowKind> kinds = {
      {"INITIALIZER", RowKind::initializer},
      {"SPARSE_INITIALIZER", RowKind::sparse_initializer},
      {"INPUT", RowKind::input},
      {"NODE", RowKind::node},
      {"RESULT", RowKind::result},
      {"OUTPUT", RowKind::output}};
  return kinds.at(text);
}

Row row_of(const json& golden) {
  Row row;
  row.kind = kind_of(golden[0]);
  row.dtype = golden[1].get<std::string>();
  if (!golden[2].is_null()) {
    row.shape.emplace();
    for (const json& size : golden[2])
      if (size.is_number())
        row.shape->emplace_back(size.get<std::int64_t>());
      else
        row.shape->emplace_back(size.get<std::string>());
  }
  const auto letters = golden[3].get<std::string>();
  std::copy_n(letters.begin(), 4, row.signature.letters.begin());
  if (!golden[4].is_null()) row.op_type = golden[4];
  if (!golden[5].is_null()) row.name = golden[5];
  row.has_values = golden.size() > 6 && golden[6].is_array();
  for (std::size_t k = 0; row.has_values && k < 4; ++k)
    row.signature.sums[k] = number_of(golden[6][k]);
  return row;
}

struct GoldenPair {
  std::string name;
  json answer;
  std::vector<Row> a, b;
};

std::vector<Row> rows_of(const std::string& name) {
  std::vector<Row> rows;
  const json golden = json::parse(test::workbench_text("results/" + name + ".json"));
  for (const json& row : golden["rows"]) rows.push_back(row_of(row));
  return rows;
}

std::vector<GoldenPair> golden_pairs() {
  std::vector<GoldenPair> pairs;
  for (const auto& entry : std::filesystem::directory_iterator(test::workbench_file("rows"))) {
    if (entry.path().extension() != ".json") continue;
    GoldenPair pair;
    pair.name = entry.path().stem().string();
    pair.answer = json::parse(test::workbench_text("rows/" + pair.name + ".json"));
    const std::string mode = pair.answer["mode"] == "nodes" ? ".nodes" : "";
    pair.a = rows_of(pair.answer["a"].get<std::string>() + mode);
    pair.b = rows_of(pair.answer["b"].get<std::string>() + mode);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

json number_or_null(const std::optional<std::size_t>& row) { return row ? json(*row) : json(); }

/// True for results of two or more dimensions that no Constant made: computed values.
bool is_computed(const Row& row) {
  return row.kind == RowKind::result && row.shape && row.shape->size() >= 2 &&
         row.op_type != "Constant";
}

using Key = std::tuple<std::string, RowShape, std::array<char, 4>>;
Key key_of(const Row& row) { return {row.dtype, *row.shape, row.signature.letters}; }

std::map<Key, std::int64_t> keys_of(const std::vector<Row>& rows) {
  std::map<Key, std::int64_t> keys;
  for (const Row& row : rows)
    if (is_computed(row)) ++keys[key_of(row)];
  return keys;
}

std::int64_t twins(const GoldenPair& pair) {
  std::int64_t found = 0;
  auto of_b = keys_of(pair.b);
  for (const auto& [key, count] : keys_of(pair.a)) found += std::min(count, of_b[key]);
  return found;
}

std::int64_t twins_paired(const GoldenPair& golden, const Alignment& alignment) {
  return std::ranges::count_if(alignment.pairs, [&](const RowPair& pair) {
    return pair.a && pair.b && is_computed(golden.a[*pair.a]) && is_computed(golden.b[*pair.b]) &&
           key_of(golden.a[*pair.a]) == key_of(golden.b[*pair.b]);
  });
}

/// Adds the differences in onnx-array-api's table, where it has them: " | a=0.5 r=434.5".
void add_printed_differences(const std::string& table, Alignment& alignment) {
  std::istringstream lines(table);
  std::string line;
  for (std::size_t k = 0; std::getline(lines, line) && k < alignment.pairs.size(); ++k) {
    const auto absolute = line.find(" | a=");
    if (absolute == line.npos) continue;
    alignment.pairs[k].absolute = std::stod(line.substr(absolute + 5));
    alignment.pairs[k].relative = std::stod(line.substr(line.find(" r=", absolute) + 3));
  }
}

Row small_row(RowKind kind, const std::string& name, double value) {
  Row row;
  row.kind = kind;
  row.dtype = "float32";
  row.shape = RowShape{std::int64_t{1}};
  row.signature = signature_of(std::vector<double>{value});
  row.has_values = true;
  row.name = name;
  return row;
}

}  // namespace

TEST_SUITE("workbench_align") {
  TEST_CASE("signatures and letters equal those of onnx-array-api") {
    const json golden = json::parse(test::workbench_text("signatures.json"));
    REQUIRE(golden.size() >= 18);
    for (const auto& [name, wanted] : golden.items()) {
      INFO(name);
      std::vector<double> values;
      for (const json& value : wanted["values"]) values.push_back(number_of(value));
      const Signature found = signature_of(values);
      CHECK(std::string(found.letters.data(), 4) == wanted["signature"].get<std::string>());
    }
    for (const GoldenPair& pair : golden_pairs())
      for (const Row& row : pair.a)
        for (std::size_t k = 0; row.has_values && k < 4; ++k)
          CHECK(signature_letter(row.signature.sums[k]) == row.signature.letters[k]);
  }

  TEST_CASE("the edit distance equals that of onnx-array-api in pairs and costs") {
    const auto goldens = golden_pairs();
    REQUIRE(goldens.size() >= 29);
    for (const GoldenPair& golden : goldens) {
      INFO(golden.name);
      const Alignment found = align_edit(golden.a, golden.b);
      CHECK(found.distance == golden.answer["distance"].get<double>());
      json pairs = json::array();
      for (const RowPair& pair : found.pairs)
        pairs.push_back({std::string(1, pair.mark()), number_or_null(pair.a),
                         number_or_null(pair.b), pair.cost});
      json wanted = json::array();
      for (const json& pair : golden.answer["pairs"])
        wanted.push_back({pair[0], pair[1], pair[2], pair[3]});
      CHECK(pairs == wanted);
    }
  }

  TEST_CASE("the table equals that of onnx-array-api") {
    std::size_t tables = 0;
    for (const GoldenPair& golden : golden_pairs())
      for (const std::size_t width : {std::size_t{60}, std::size_t{90}}) {
        const std::string file = golden.name + (width == 90 ? ".90.txt" : ".txt");
        const std::string wanted = test::workbench_text("rows/" + file);
        if (wanted.empty()) continue;
        INFO(file);
        ++tables;
        Alignment found = align_edit(golden.a, golden.b);
        add_printed_differences(wanted, found);
        fmt::memory_buffer out;
        report::write_compare_rows(golden.a, golden.b, found, width, out);
        CHECK(fmt::to_string(out) == wanted);
      }
    CHECK(tables >= 10);
  }

  TEST_CASE("the best alignment pairs equal values in any order of nodes") {
    for (const GoldenPair& golden : golden_pairs()) {
      if (golden.answer["mode"] == "nodes") continue;
      INFO(golden.name);
      const Alignment found = align_best(golden.a, golden.b);
      const std::int64_t paired = twins_paired(golden, found);
      INFO(paired << " of " << twins(golden));
      CHECK(static_cast<double>(paired) >= 0.95 * static_cast<double>(twins(golden)));
    }
  }

  TEST_CASE("both alignments contain every row once, and costs add up") {
    for (const GoldenPair& golden : golden_pairs())
      for (const Alignment& found :
           {align_edit(golden.a, golden.b), align_best(golden.a, golden.b)}) {
        INFO(golden.name);
        std::multiset<std::size_t> a, b;
        double cost = 0;
        for (const RowPair& pair : found.pairs) {
          if (pair.a) a.insert(*pair.a);
          if (pair.b) b.insert(*pair.b);
          cost += pair.cost;
          if (pair.a && pair.b) CHECK(pair.cost == pair_cost(golden.a[*pair.a], golden.b[*pair.b]));
        }
        CHECK(cost == found.distance);
        CHECK(a.size() == golden.a.size());
        CHECK(std::set(a.begin(), a.end()).size() == golden.a.size());
        CHECK(b.size() == golden.b.size());
        CHECK(std::set(b.begin(), b.end()).size() == golden.b.size());
      }
  }

  TEST_CASE("a side without rows leaves the other side's rows unpaired") {
    const std::vector<Row> rows = {small_row(RowKind::result, "x", 1),
                                   small_row(RowKind::result, "y", 2)};
    const auto best = [](std::span<const Row> a, std::span<const Row> b) {
      return align_best(a, b);
    };
    using Align = std::function<Alignment(std::span<const Row>, std::span<const Row>)>;
    for (const Align& align : {Align(align_edit), Align(best)}) {
      CHECK(align({}, {}).pairs.empty());
      CHECK(align(rows, {}).distance == 2 * gap_cost);
      const Alignment only_b = align({}, rows);
      REQUIRE(only_b.pairs.size() == 2);
      CHECK(only_b.pairs[1].mark() == '+');
      CHECK(only_b.pairs[1].b == 1);
    }
  }

  TEST_CASE("inputs and outputs are paired by name, though their values differ") {
    const std::vector<Row> a = {small_row(RowKind::input, "x", 1),
                                small_row(RowKind::input, "y", 2),
                                small_row(RowKind::output, "z", 3)};
    const std::vector<Row> b = {small_row(RowKind::input, "y", 1),
                                small_row(RowKind::input, "x", 2),
                                small_row(RowKind::output, "other", 4)};
    const Alignment found = align_best(a, b);
    REQUIRE(found.pairs.size() == 3);
    CHECK(found.pairs[0].b == 1);
    CHECK(found.pairs[1].b == 0);
    CHECK(found.pairs[2].b == 2);
    CHECK(found.pairs[2].mark() == '~');
  }
}

}  // namespace symprof::workbench_align_test

#include "report/write/formats.h"

#include <doctest/doctest.h>

#include <set>

#include "base/error.h"

namespace symprof::test {

TEST_SUITE("formats") {
  TEST_CASE("a verb's formats have unique names, and are found by them") {
    for (const Verb verb : {Verb::profile, Verb::fit, Verb::dot, Verb::engine, Verb::run}) {
      CAPTURE(name(verb));
      std::set<std::string_view> names;
      for (const report::FormatRow& row : report::formats_of(verb)) {
        CHECK(row.verb == verb);
        CHECK(names.insert(report::name(row.format)).second);
        CHECK(report::find_format(verb, std::string(report::name(row.format))).format ==
              row.format);
      }
      CHECK(names.size() > 1);
      CHECK_THROWS_AS(report::find_format(verb, "tabel"), Error);
    }
  }

  TEST_CASE("help lists the formats as a sentence, with their notes") {
    CHECK(report::format_names(Verb::devices) == "table or json");
    CHECK(report::format_names(Verb::compare) ==
          "table, rows (the lines of onnx-array-api) or json");
    CHECK(report::format_names(Verb::profile, [](const report::FormatRow& row) {
            return row.has_formulas;
          }) == "table or json");
  }
}

}  // namespace symprof::test

#include "plan/formulas/formulas.h"

#include <doctest/doctest.h>

#include <set>

#include "base/error.h"
#include "base/rounding.h"
#include "plan/formulas/peak_moments.h"
#include "tests/support/recording_builder.h"

namespace symprof::test {
namespace {

using plan::find_formulas;
using plan::Formula;
using plan::Formulas;
using plan::Measure;
using plan::Rational;
using plan::Sizes;
using plan::Term;
using plan::Variable;
using symprof::round_up;

using Terms = std::vector<Term>;
using Values = std::vector<std::int64_t>;

/// The terms of the only figure; empty if it has no formula.
Terms terms_of(const Formulas& found, std::size_t figure = 0) {
  const Formula& formula = found.formulas[figure];
  return formula.polynomial ? formula.polynomial->terms : Terms{};
}

}  // namespace

TEST_SUITE("formulas") {
  TEST_CASE("figures of different degrees are fitted from one grid") {
    std::set<Sizes> measured;
    const Formulas found = find_formulas({{"batch", 8}, {"seq", 128}}, [&](const Sizes& sizes) {
      CHECK(measured.insert(sizes).second);  // Each size is profiled once.
      const std::int64_t b = sizes[0], s = sizes[1];
      return Values{4 * b * s * s + 6 * b * s, 1000, 0, b + 2 * s};
    });
    CHECK(terms_of(found, 0) == Terms{{4, {1, 2}}, {6, {1, 1}}});
    CHECK(terms_of(found, 1) == Terms{{1000, {0, 0}}});
    CHECK(found.formulas[2].polynomial->terms.empty());
    CHECK(terms_of(found, 3) == Terms{{1, {1, 0}}, {2, {0, 1}}});
    for (const Formula& formula : found.formulas) CHECK(formula.multiples == Sizes{1, 1});
    CHECK(found.fitted == 2 * 3);
    CHECK(found.fitted + found.checked == static_cast<int>(measured.size()));
    CHECK(found.checked >= 8);
    CHECK(measured.size() <= 25);
  }

  TEST_CASE("a maximum is no polynomial, and the mismatch names a size") {
    const Formulas found = find_formulas({{"batch", 8}}, [](const Sizes& sizes) {
      return Values{std::max<std::int64_t>(100 * sizes[0], 5 * sizes[0] * sizes[0])};
    });
    REQUIRE_FALSE(found.formulas[0].polynomial);
    REQUIRE(found.formulas[0].mismatch);
    // From 20 on the second term is larger.
    CHECK(found.formulas[0].mismatch->sizes == Sizes{24});
    CHECK(found.formulas[0].mismatch->measured == 5 * 24 * 24);
    CHECK(found.formulas[0].mismatch->predicted == Rational(100 * 24));
  }

  TEST_CASE("a short range uses four multiples of 32 within 128") {
    const auto tiles = [](const Sizes& sizes) {
      return Values{sizes[0] * (16 * sizes[1] + 4 * round_up(sizes[1], 32))};
    };
    const Formulas found = find_formulas(
        {{.name = "batch", .start = 4}, {.name = "seq", .start = 64, .most = 128}}, tiles);
    CHECK(terms_of(found) == Terms{{20, {1, 1}}});
    CHECK(found.formulas[0].multiples == Sizes{1, 32});
    CHECK(found.rounder_lines[1].sizes == Sizes{32, 64, 96, 128});
  }

  TEST_CASE("a mismatch at large sizes of both variables is found") {
    const Formulas found = find_formulas({{"batch", 8}, {"seq", 128}}, [](const Sizes& sizes) {
      const std::int64_t b = sizes[0], s = sizes[1];
      return Values{b * s, b * s + (b > 24 && s > 384 ? 1 : 0)};
    });
    CHECK(terms_of(found, 0) == Terms{{1, {1, 1}}});
    REQUIRE_FALSE(found.formulas[1].polynomial);
    CHECK(Rational(found.formulas[1].mismatch->measured) ==
          found.formulas[1].mismatch->predicted + 1);
  }

  TEST_CASE("a rounded figure holds at the smallest multiples") {
    const Formulas found = find_formulas({{"batch", 8}, {"seq", 384}}, [](const Sizes& sizes) {
      const std::int64_t b = sizes[0], s = sizes[1];
      return Values{b * round_up(s, 128), round_up(4 * b * s, 512), round_up(b, 3),
                    b * (s / 6) * (s / 6)};
    });
    CHECK(found.formulas[0].multiples == Sizes{1, 128});
    CHECK(terms_of(found, 0) == Terms{{1, {1, 1}}});
    // batch * seq is a multiple of 128 for any batch if seq is one.
    CHECK(found.formulas[1].multiples == Sizes{1, 128});
    CHECK_FALSE(found.formulas[2].polynomial);  // Neither 8 nor 128 is a multiple of 3.
    CHECK(found.formulas[3].multiples == Sizes{1, 6});
    CHECK(terms_of(found, 3) == Terms{{Rational::of(1, 36), {1, 2}}});
  }

  TEST_CASE("rounder sizes find the formula where small ones only show rounding") {
    const Measure measure = [](const Sizes& sizes) {
      const std::int64_t b = sizes[0];
      return Values{round_up(100 * b, 512), round_up(100 * b, 512) + (b == 32 ? 1 : 0), b};
    };
    const Formulas found = find_formulas({{"batch", 8}}, measure);
    CHECK(terms_of(found, 0) == Terms{{100, {1}}});
    CHECK(found.formulas[0].multiples == Sizes{128});
    CHECK(found.rounder_lines[0].sizes == Sizes{128, 256, 384, 512, 640, 768});
    CHECK(found.formulas[2].multiples == Sizes{1});
    // The range allows five such sizes, or too few.
    CHECK(terms_of(find_formulas({{"batch", 8, 2, 700}}, measure)) == Terms{{100, {1}}});
    CHECK_FALSE(find_formulas({{"batch", 8, 2, 400}}, measure).formulas[0].polynomial);
  }

  TEST_CASE("rounder sizes do not hide earlier mismatches") {
    const Formulas found = find_formulas({{"batch", 96}}, [](const Sizes& sizes) {
      // The figure changes at 384: 480 and the rounder sizes show it, 96 to 288 do not.
      return Values{sizes[0] < 384 ? sizes[0] : 2 * sizes[0]};
    });
    CHECK_FALSE(found.formulas[0].polynomial);
  }

  TEST_CASE("sizes stay in the range of the graph") {
    for (const auto& [start, least, most] : {std::tuple<int, int, int>{1024, 2, 1024},
                                             {512, 2, 1024},
                                             {6, 2, 9},
                                             {197, 2, 200},
                                             {3, 2, 4},
                                             {7, 6, 12}}) {
      const Formulas found = find_formulas({{"seq", start, least, most}}, [&](const Sizes& sizes) {
        CHECK(sizes[0] >= least);
        CHECK(sizes[0] <= most);
        return Values{3 * sizes[0] + 1};
      });
      CHECK(terms_of(found) == Terms{{3, {1}}, {1, {0}}});
      CHECK(found.checked >= 1);
    }
  }

  TEST_CASE("refused sizes end the range or rule out the step") {
    const Formulas positions = find_formulas({{"seq", 512}}, [](const Sizes& sizes) {
      if (sizes[0] > 1024) throw Error("add", "1,024 positions and no more");
      return Values{sizes[0] * sizes[0]};
    });
    CHECK(terms_of(positions) == Terms{{1, {2}}});
    REQUIRE_FALSE(positions.refused.empty());
    CHECK(positions.refused[0].sizes > Sizes{1024});
    CHECK(positions.refused[0].reason == "add: 1,024 positions and no more");

    const Formulas patches = find_formulas({{"height", 224}}, [](const Sizes& sizes) {
      if (sizes[0] % 14 != 0) throw Error("view", "no whole number of patches");
      return Values{(sizes[0] / 14) * (sizes[0] / 14)};
    });
    CHECK(terms_of(patches) == Terms{{Rational::of(1, 196), {2}}});
    CHECK(patches.formulas[0].multiples == Sizes{14});
  }

  TEST_CASE("a model that accepts a single size has no formula") {
    const Measure measure = [](const Sizes& sizes) {
      if (sizes[0] != 512) throw Error("view", "512 and nothing else");
      return Values{1};
    };
    CHECK_THROWS_WITH_AS(find_formulas({{"seq", 512}}, measure),
                         doctest::Contains("512 and nothing else"), Error);
    CHECK_THROWS_WITH_AS(find_formulas({{"seq", 2, 2, 3}}, [](const Sizes&) { return Values{1}; }),
                         doctest::Contains("fewer than 3 sizes"), Error);
    CHECK_THROWS_WITH_AS(find_formulas({{"seq", 128}}, measure), "view: 512 and nothing else",
                         Error);
  }

  TEST_CASE("random figures are no polynomial") {
    const Formulas found = find_formulas({{"a", 64}, {"b", 512}, {"c", 100}}, [](const Sizes& s) {
      const auto mixed =
          static_cast<std::uint64_t>(s[0] * 31 + s[1] * 17 + s[2]) * 0x9E3779B97F4A7C15u;
      return Values{static_cast<std::int64_t>(mixed >> 1), s[0] * s[1] * s[1] * s[2]};
    });
    CHECK_FALSE(found.formulas[0].polynomial);
    CHECK(terms_of(found, 1) == Terms{{1, {1, 2, 1}}});
  }

  TEST_CASE("a peak is the maximum of its moments' formulas") {
    const auto moments_of = [](const auto& bytes_at) {
      const std::vector<Variable> variables = {{"batch", 8}, {"seq", 128}};
      std::map<Sizes, plan::BytesByCall> known;
      const auto measure = [&](const Sizes& sizes) {
        return known[sizes] = bytes_at(sizes[0], sizes[1]);
      };
      find_formulas(variables, measure);
      return plan::find_peak_moments(variables, known, measure);
    };
    using Bytes = plan::BytesByCall;
    const auto moments = moments_of([](std::int64_t b, std::int64_t s) {
      return Bytes{50, 5 * b * s * s, 4096 + b * s, 2'000'000 + 7 * b};
    });
    REQUIRE(moments.size() == 2);
    CHECK(moments[0].call == 0);
    CHECK(moments[0].formula.polynomial->terms == Terms{{5, {1, 2}}});
    CHECK(moments[1].call == 2);
    CHECK(moments[1].formula.polynomial->terms == Terms{{7, {1, 0}}, {2'000'000, {0, 0}}});
    // A moment that is no polynomial leaves no formula.
    CHECK(moments_of([](std::int64_t b, std::int64_t s) {
            return Bytes{50, 5 * b * s * s, 2'000'000 + b % 3};
          }).empty());
    // A single moment is just its formula.
    CHECK(moments_of([](std::int64_t b, std::int64_t s) {
            return Bytes{50, round_up(b * s, 1000)};
          }).empty());
    // Other calls run from a certain size on.
    CHECK(moments_of([](std::int64_t b, std::int64_t s) {
            return s < 256 ? Bytes{50, 7 * s} : Bytes{50, 5 * b * s * s, 10 * s};
          }).empty());
  }

  TEST_CASE("the requested bytes of each call are what the loop holds during it") {
    RecordingBuilder builder;
    const NodeId node = builder.node("node");
    builder.storage(
        {.bytes = 1000, .kind = StorageKind::parameter});  // Without an event: alive all the time.
    const StorageId first = builder.storage({.bytes = 700}),
                    second = builder.storage({.bytes = 90});
    const CallId one = builder.call("aten::relu", {}, {}, node);
    builder.event(EventKind::allocate, first, one);
    const CallId two = builder.call("aten::relu", {}, {}, node);
    builder.event(EventKind::allocate, second, two);
    builder.event(EventKind::free, first, two);
    builder.event(EventKind::free, second, builder.call("aten::relu", {}, {}, node));
    const plan::BytesByCall bytes = plan::requested_by_call(builder.recording(), {}, {});
    CHECK(bytes == plan::BytesByCall{1000, 1000 + 700, 1000 + 700 + 90, 1000});
  }
}

}  // namespace symprof::test

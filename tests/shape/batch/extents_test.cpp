#include "shape/batch/extents.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace symprof::test {
namespace {

using shape::batch_size;
using shape::Batches;
using shape::Extent;
using shape::Extents;
using shape::Numbers;
using shape::tried_sizes;
using shape::views;

constexpr Batches two{.file = 2, .factor = 5};
constexpr Batches one{.file = 1, .factor = 11};

Extent fixed(std::int64_t size) { return {size, size, {}}; }
Extent samples(const Batches& batches, std::int64_t others = 1, std::int64_t stride = 1) {
  return {batches.file * others, batches.tried() * others, {stride}};
}

/// The sizes of the only candidate view.
Numbers only(const std::vector<Extents>& answers) {
  REQUIRE(answers.size() == 1);
  return tried_sizes(answers[0]);
}

}  // namespace

TEST_SUITE("batch_extents") {
  TEST_CASE("sizes as formulas of the batch") {
    CHECK(batch_size(6, 6, two) == trace::BatchSize{.rest = 6});
    CHECK(batch_size(6, 30, two) == trace::BatchSize{.factor = 3, .power = 1});
    CHECK(batch_size(8, 200, two) == trace::BatchSize{.factor = 2, .power = 2});
    CHECK(batch_size(5, 21, two) == trace::BatchSize{.factor = 2, .power = 1, .rest = 1});
    CHECK_THROWS_AS(batch_size(5, 22, two), Error);
  }

  TEST_CASE("a view keeps the position of the samples, for any other sizes") {
    CHECK(only(views({samples(two), fixed(2), fixed(4)}, {2, 2, 2, 2}, two)) ==
          Numbers{10, 2, 2, 2});
    CHECK(only(views({fixed(2), samples(two), fixed(4)}, {2, 2, 4}, two)) == Numbers{2, 10, 4});
    CHECK(only(views({fixed(2), samples(two), fixed(4)}, {2, 4, 2}, two)) == Numbers{2, 20, 2});
  }

  TEST_CASE("merged dimensions split as they were") {
    const std::vector<Extents> outer = views({samples(two), fixed(4), fixed(3)}, {8, 3}, two);
    CHECK(only(outer) == Numbers{40, 3});
    CHECK(only(views(outer[0], {2, 4, 3}, two)) == Numbers{10, 4, 3});
    const std::vector<Extents> inner = views({fixed(4), samples(two), fixed(3)}, {8, 3}, two);
    CHECK(only(inner) == Numbers{40, 3});
    CHECK(only(views(inner[0], {4, 2, 3}, two)) == Numbers{4, 10, 3});
    CHECK(only(views(inner[0], {2, 2, 2, 3}, two)) == Numbers{2, 2, 10, 3});
  }

  TEST_CASE("every sample paired with every other") {
    CHECK(only(views({samples(two), samples(two)}, {4}, two)) == Numbers{100});
  }

  TEST_CASE("a view across the batch has no candidates") {
    CHECK(views({fixed(3), {4, 20, {2}}, fixed(3)}, {6, 6}, {.file = 2, .factor = 5}).size() == 1);
    CHECK(views({fixed(3), {6, 30, {1}}}, {9, 2}, {.file = 6, .factor = 5}).empty());
    CHECK(views({{3, 11, {}}, fixed(4)}, {6, 2}, two).empty());
    CHECK(only(views({{3, 11, {}}, fixed(4)}, {3, 2, 2}, two)) == Numbers{11, 2, 2});
  }

  TEST_CASE("for a batch of one, a dimension of its own is the most likely position") {
    const auto answers = views({samples(one), fixed(4), fixed(6)}, {1, 4, 2, 3}, one);
    REQUIRE(answers.size() > 1);
    CHECK(tried_sizes(answers[0]) == Numbers{11, 4, 2, 3});
    const auto joined = views({fixed(4), samples(one), fixed(6)}, {4, 6}, one);
    CHECK(tried_sizes(joined[0]) == Numbers{44, 6});
  }

  TEST_CASE("results have the samples at the position of operands of the same sizes") {
    const Extents operand = {{8, 40, {1}}, fixed(3)};
    const Extents* operands[] = {&operand};
    CHECK(shape::result_extents({8, 5}, {40, 5}, operands, two)[0].strides == Numbers{1});
    CHECK(shape::result_extents({8, 5}, {40, 5}, {}, two)[0].strides == Numbers{4});
  }
}

}  // namespace symprof::test

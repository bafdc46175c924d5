#include "plan/batches.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace symprof::plan {

TEST_SUITE_BEGIN("batches");

TEST_CASE("batches of so many samples, padded to their longest and up to a multiple") {
  const std::vector<std::int64_t> lengths{5, 9, 3, 12, 7};
  const std::vector<Batch> batches = make_batches(lengths, {.most = 2, .pad_to = 8});
  const std::vector<Batch> expected{{2, 16, 5 + 9}, {2, 16, 3 + 12}, {1, 8, 7}};
  CHECK(batches == expected);
}

TEST_CASE("a budget counts padded tokens, and a sample that is longer is alone") {
  const std::vector<std::int64_t> lengths{4, 6, 5, 30, 2};
  const std::vector<Batch> batches =
      make_batches(lengths, {.limit = BatchLimit::tokens, .most = 12});
  const std::vector<Batch> expected{{2, 6, 4 + 6}, {1, 5, 5}, {1, 30, 30}, {1, 2, 2}};
  CHECK(batches == expected);
}

TEST_CASE("samples of different buckets are in no batch together") {
  const std::vector<std::int64_t> lengths{10, 11, 1, 20, 2};
  const std::vector<Batch> batches = make_batches(lengths, {.most = 2, .bucket = 10});
  // 1 to 10 are one bucket, 11 to 20 the next; 2 is left at the end.
  const std::vector<Batch> expected{{2, 10, 11}, {2, 20, 31}, {1, 2, 2}};
  CHECK(batches == expected);
}

TEST_CASE("a shuffle keeps the samples, and is the same for the same seed") {
  std::vector<std::int64_t> lengths(100);
  std::iota(lengths.begin(), lengths.end(), 1);
  const auto lengths_with = [&](std::optional<std::uint64_t> seed) {
    std::vector<std::int64_t> found;
    for (const Batch& batch : make_batches(lengths, {.shuffle_seed = seed}))
      found.push_back(batch.length);
    return found;
  };
  CHECK(lengths_with(std::nullopt) == lengths);
  std::vector<std::int64_t> shuffled = lengths_with(7);
  CHECK(shuffled == lengths_with(7));
  CHECK(shuffled != lengths_with(8));
  std::ranges::sort(shuffled);
  CHECK(shuffled == lengths);
}

TEST_CASE("drawn lengths have the median and the spread that were asked for") {
  std::vector<std::int64_t> lengths =
      lognormal_lengths({.median = 200, .sigma = 0.7, .max = 1024, .count = 20001});
  std::ranges::sort(lengths);
  CHECK(lengths.front() >= 1);
  CHECK(lengths.back() == 1024);
  // A quantile's standard error is below 1.5 % here.
  CHECK(lengths[10000] == doctest::Approx(200).epsilon(0.05));
  CHECK(lengths[16827] == doctest::Approx(200 * std::exp(0.7)).epsilon(0.05));  // One sigma above.
}

TEST_SUITE_END();

}  // namespace symprof::plan

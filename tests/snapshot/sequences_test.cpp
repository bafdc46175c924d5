// Sequences aligned, beside Levenshtein's matrix.
#include "snapshot/sequences.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace symprof::snapshot {
namespace {

using Numbers = std::vector<std::int64_t>;

/// The distances of all of `first` from 0, 1, … numbers of `second`; `top` as in the row above.
Numbers last_row(const Numbers& first, const Numbers& second, std::int64_t top) {
  Numbers row(second.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = top * static_cast<std::int64_t>(j);
  for (const std::int64_t number : first) {
    std::int64_t diagonal = row[0]++;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::int64_t above = row[j];
      row[j] = std::min({diagonal + (number == second[j - 1] ? 0 : 1), above + 1, row[j - 1] + 1});
      diagonal = above;
    }
  }
  return row;
}

Numbers cut(const Numbers& numbers, const Stretch& stretch) {
  return {numbers.begin() + static_cast<std::ptrdiff_t>(stretch.begin),
          numbers.begin() + static_cast<std::ptrdiff_t>(stretch.end)};
}

/// The cost of the pairs, which have all elements in order.
std::int64_t cost_of(const std::vector<ElementPair>& pairs, const Numbers& first,
                     const Numbers& second) {
  std::int64_t cost = 0;
  std::uint32_t next = 0, other_next = 0;
  for (const ElementPair& pair : pairs) {
    if (pair.first != no_element) CHECK(pair.first == next++);
    if (pair.second != no_element) CHECK(pair.second == other_next++);
    const bool is_equal = pair.first != no_element && pair.second != no_element &&
                          first[pair.first] == second[pair.second];
    cost += is_equal ? 0 : 1;
  }
  CHECK(next == first.size());
  CHECK(other_next == second.size());
  return cost;
}

Numbers random_numbers(std::mt19937& random, std::size_t most, std::int64_t kinds) {
  Numbers numbers(random() % (most + 1));
  for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(random()) % kinds;
  return numbers;
}

}  // namespace

TEST_SUITE("snapshot_sequences") {
  TEST_CASE("the cost is Levenshtein's distance") {
    std::mt19937 random(51);
    for (int i = 0; i < 300; ++i) {
      const std::size_t most = i % 3 == 0 ? 400 : 20;
      const Numbers first = random_numbers(random, most, 2 + i % 7);
      const Numbers second = random_numbers(random, most, 2 + i % 7);
      CAPTURE(i);
      CHECK(cost_of(align_sequences(first, second), first, second) ==
            last_row(first, second, 1).back());
    }
  }

  TEST_CASE("the nearest stretch is as near as any") {
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
      const Numbers part = random_numbers(random, i % 2 == 0 ? 10 : 150, 2 + i % 5);
      const Numbers whole = random_numbers(random, 300, 2 + i % 5);
      const Stretch found = nearest_stretch(part, whole);
      const Numbers ends = last_row(part, whole, 0);
      CAPTURE(i);
      CHECK(last_row(part, cut(whole, found), 1).back() == std::ranges::min(ends));
      // No later end is as near.
      for (std::size_t end = found.end + 1; end < ends.size(); ++end)
        CHECK(ends[end] > ends[found.end]);
    }
  }

  TEST_CASE("of steps that repeat, the last") {
    const Numbers step{8, 4, 4, 16, 2};
    Numbers whole{64, 64};
    for (int i = 0; i < 3; ++i) whole.insert(whole.end(), step.begin(), step.end());
    CHECK(nearest_stretch(step, whole) == Stretch{12, 17});
    CHECK(nearest_stretch(Numbers{2, 8, 4}, whole) == Stretch{11, 14});
    CHECK(nearest_stretch(Numbers{}, whole) == Stretch{17, 17});
    CHECK(nearest_stretch(step, Numbers{}) == Stretch{0, 0});
  }

  TEST_CASE("many different numbers take no more memory") {
    constexpr std::size_t count = 50'000, distance = 1000;
    Numbers first(count);
    for (std::size_t i = 0; i < count; ++i) first[i] = static_cast<std::int64_t>(i);
    Numbers second = first;
    for (std::size_t i = 0; i < count; i += distance) second[i] = -1;
    CHECK(cost_of(align_sequences(first, second), first, second) == count / distance);
    CHECK(nearest_stretch(first, second) == Stretch{0, count});
  }

  TEST_CASE("what is inserted in the middle has no partner") {
    Numbers first(10'000), second;
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<std::int64_t>(i % 50);
    second = first;
    second.insert(second.begin() + 5000, 1000);
    second[20] = 2000;
    const std::vector<ElementPair> pairs = align_sequences(first, second);
    CHECK(cost_of(pairs, first, second) == 2);
    CHECK(pairs[20] == ElementPair{20, 20});
    CHECK(pairs[5000] == ElementPair{no_element, 5000});
  }
}

}  // namespace symprof::snapshot

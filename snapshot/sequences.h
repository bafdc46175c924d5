// Aligns two sequences of numbers, so that as few of them as possible are added, left out or
// replaced (Levenshtein's distance).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace symprof::snapshot {

constexpr std::uint32_t no_element = std::numeric_limits<std::uint32_t>::max();

/// Elements that stand for each other, equal or not; no_element where one side has none.
struct ElementPair {
  std::uint32_t first = no_element, second = no_element;
  friend bool operator==(const ElementPair&, const ElementPair&) = default;
};

/// Half open.
struct Stretch {
  std::size_t begin = 0, end = 0;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// The stretch of `whole` that is the nearest to `part`; of several the last, and the longest of
/// those that end there.
Stretch nearest_stretch(std::span<const std::int64_t> part, std::span<const std::int64_t> whole);

/// All elements of both, in order. Time: the product of the lengths, divided by 32.
std::vector<ElementPair> align_sequences(std::span<const std::int64_t> first,
                                         std::span<const std::int64_t> second);

}  // namespace symprof::snapshot

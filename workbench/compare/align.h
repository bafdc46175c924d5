// Alignment of the rows of two runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workbench/compare/row.h"

namespace symprof::workbench {

/// The cost of an unpaired row.
constexpr double gap_cost = 1000;

/// A line of a comparison: a row of A, a row of B, or a pair.
struct RowPair {
  std::optional<std::size_t> a, b;
  double cost = gap_cost;
  std::optional<double> absolute, relative;  ///< Largest differences, where values were compared.
  /// True if the pair rests on position alone: neither values nor names nor operands confirm it.
  bool is_guess = false;
  bool is_within = true;  ///< False where values or shapes differ by more than the tolerance.

  /// '=' for a pair without cost, '~' for any other pair, '-' only in A, '+' only in B.
  char mark() const;
};

struct Alignment {
  std::vector<RowPair> pairs;
  double distance = 0;  ///< The sum of all costs.
};

/// The cost of pairing two rows: DistanceExecution of onnx-array-api 0.3.3. Names are not compared.
double pair_cost(const Row& a, const Row& b);

/// The alignment of onnx-array-api, row for row: an edit distance within a band of max(50, |a| -
/// |b| + 1) rows, in which the first rows are always paired; ties prefer a pair, then a row of A
/// alone. If one side has no rows (where onnx-array-api fails), no row is paired.
Alignment align_edit(std::span<const Row> a, std::span<const Row> b);

/// How operator names of the two sides can be compared.
enum class Operators : std::uint8_t {
  same_words,   ///< Both sides use the same operator names.
  other_words,  ///< ATen names on one side, ONNX names on the other: not comparable.
};

/// Pairs inputs and outputs by name, then by position and type; other rows by equal values, and
/// rows of one operator with paired operands though their values differ, in the order of
/// link_levels (align_links.cpp); then by values alone; and fills the gaps between pairs by edit
/// distance. So the order in which a tool writes nodes does not matter. Lines are in the order of
/// A; rows only in B follow their predecessor in B.
Alignment align_best(std::span<const Row> a, std::span<const Row> b,
                     Operators operators = Operators::same_words);

}  // namespace symprof::workbench

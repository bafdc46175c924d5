// Which rows of two runs belong together.
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workbench/compare/row.h"

namespace symprof::workbench {

/// What a row without a partner costs.
constexpr double gap_cost = 1000;

/// A line of a comparison: a row of A, a row of B, or one of each.
struct RowPair {
  std::optional<std::size_t> a, b;
  double cost = gap_cost;
  std::optional<double> absolute, relative;  ///< Largest differences, where values were compared.
  /// Nothing but their places says that the two belong together: neither values nor names nor what
  /// they read.
  bool is_guess = false;
  bool is_within = true;  ///< False where values, or shapes, differ by more than they may.

  /// '=' for a pair that costs nothing, '~' for another, '-' only in A, '+' only in B.
  char mark() const;
};

struct Alignment {
  std::vector<RowPair> pairs;
  double distance = 0;  ///< The sum of all costs.
};

/// What it costs to pair two rows: DistanceExecution of onnx-array-api 0.3.3. Names are not
/// compared.
double pair_cost(const Row& a, const Row& b);

/// The alignment of onnx-array-api, to the row: an edit distance within a band of
/// max(50, |a| - |b| + 1) rows, in which the first rows are always paired, and of equally dear ways
/// a pair comes first, then a row of A alone. Where one side has no row (there it fails) all rows
/// stand alone.
Alignment align_edit(std::span<const Row> a, std::span<const Row> b);

/// How much operators of the two sides say.
enum class Operators : std::uint8_t {
  same_words,   ///< Both sides call them by the same names.
  other_words,  ///< ATen's on one side, ONNX's on the other: a name says nothing.
};

/// Pairs inputs and outputs by name, then by position and type; other rows by equal values, and
/// rows of one operator that read paired rows though their values differ, in the order of
/// link_levels (align_links.cpp); then by values alone; and fills what is left between two pairs by
/// edit distance. So it does not matter in which order a tool writes nodes. Lines are in one order:
/// A's, with what only B has behind its predecessor in B.
Alignment align_best(std::span<const Row> a, std::span<const Row> b,
                     Operators operators = Operators::same_words);

}  // namespace symprof::workbench

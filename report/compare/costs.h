// Changes in the costs of a step between two models, or two versions of one: rows of two profiles
// side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "report/profile/rows.h"

namespace symprof::report {

/// A row of A, a row of B, or one of each.
struct CostLine {
  std::optional<std::size_t> a, b;  ///< Indices into the rows of CostComparison.
  /// '=' for a pair with equal figures (times: to 1 %), '~' for any other pair, '-' only in A, '+'
  /// only in B.
  char mark = '=';
};

/// A figure on both sides; empty where it is unknown, or the row does not exist.
struct CostChange {
  std::optional<std::int64_t> a, b;

  std::int64_t change() const { return b.value_or(0) - a.value_or(0); }
  bool operator==(const CostChange&) const = default;
};

struct CostComparison {
  const Profile* a = nullptr;
  const Profile* b = nullptr;
  RowOptions options;
  std::vector<Column> columns;  ///< Figures that are compared.
  std::vector<Row> rows_a, rows_b;
  /// In A's execution order; rows of B only follow their predecessor in B.
  std::vector<CostLine> lines;

  std::size_t count(char mark) const;
  CostChange figure(const CostLine& line, Column column) const;
};

/// The columns that are compared by default.
std::vector<Column> compared_columns(bool with_optimizer, bool with_times);

/// Folds two profiles as `options` say and pairs their rows (compare/align.h: align_best). Rows
/// with the same name and equal figures are paired first (rows of nodes must also have the same
/// operator and shape), then rows with the same name, operator or shape, and their neighbors.
/// Columns of text are left out. Both profiles have to outlive the answer.
CostComparison compare_costs(const Profile& a, const Profile& b, const RowOptions& options,
                             const std::vector<Column>& columns);

/// Figures of the whole step to show, if either side has them.
struct TotalChange {
  const Figure* figure = nullptr;
  std::string_view label;
  CostChange value;
};
std::vector<TotalChange> compare_totals(const CostComparison& costs);

}  // namespace symprof::report

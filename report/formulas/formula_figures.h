// The figures of a profile that formulas are fitted to, as one list of numbers that is the same for
// every profile of a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "report/profile/columns.h"
#include "report/profile/rows.h"

namespace symprof::report {

/// The totals that formulas are found for, in the order in which they are printed.
std::span<const Figure* const> formula_totals();
/// The index of the total with this key, which must exist.
std::size_t index_of_total(std::string_view key);

/// The order of the figures: the totals, then the cells of the rows.
struct FigureList {
  struct Cell {
    std::size_t row = 0;
    Column column{};
  };
  RowOptions options;
  std::vector<Row> as_run;         ///< At the first sizes.
  std::vector<std::size_t> order;  ///< See order_of.
  std::vector<Row> rows;           ///< `as_run` in that order, cut.
  std::vector<Cell> cells;
};

/// The rows of `first`, and the columns of numbers among `columns`.
FigureList list_figures(const Profile& first, const RowOptions& options,
                        const std::vector<Column>& columns);

/// Throws Error if the rows of `profile` differ from the list's.
std::vector<std::int64_t> figures(const Profile& profile, const FigureList& list);

}  // namespace symprof::report

// Counting and folding the figures of rows, as the table of figures says.
#pragma once

#include <optional>

#include "profile/figures.h"

namespace symprof::profile {

/// In bytes, FLOPs or counts; empty for a figure that rows do not have.
std::optional<std::int64_t> value_of(const Figure& figure, const RowFigures& row);

/// Counts a call of the node that `row` is of.
void add_call(RowFigures& row, Phase phase, const Cost& cost);
/// Into a row of several nodes: what folds as a sum, and the confidence.
void add_node(RowFigures& row, const RowFigures& node);
/// Of rows that stay apart, as those that --top cuts: all but running sums.
void add_row(RowFigures& sum, const RowFigures& row);
/// Adds `row` to the running sums before it, and gives it what they are now.
void run_on(RowFigures& sums, RowFigures& row);

}  // namespace symprof::profile

// Counting and folding the figures of rows, according to the table of figures.
#pragma once

#include <optional>

#include "profile/figures.h"

namespace symprof::profile {

/// The value in bytes, FLOPs or counts; empty for a figure that rows do not have.
std::optional<std::int64_t> value_of(const Figure& figure, const RowFigures& row);

/// Counts one call of the row's node.
void add_call(RowFigures& row, Phase phase, const Cost& cost);
/// Adds a node to a row of several: figures that fold as a sum, and the confidence.
void add_node(RowFigures& row, const RowFigures& node);
/// Sums separate rows, e.g. the rows that a table omits: all figures except running sums.
void add_row(RowFigures& sum, const RowFigures& row);
/// Adds `row` to the running sums of the rows before it, and sets its own to the result.
void run_on(RowFigures& sums, RowFigures& row);

}  // namespace symprof::profile

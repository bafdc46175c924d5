// Costs of two models side by side, as a table, as JSON and as an HTML page.
#pragma once

#include <fmt/format.h>

#include "report/compare/costs.h"
#include "report/write/layout.h"

namespace symprof::report {

/// Rows that differ, in their order, or by the change of a column (`sort` of the options), the
/// first `top` of them; one row sums the others, one the equal rows. Totals below.
void write_costs(fmt::memory_buffer& out, const CostComparison& costs, const Layout& layout);

/// Schema symprof.costs/1: all rows.
void write_costs_json(fmt::memory_buffer& out, const CostComparison& costs);

/// A self-contained page: totals, and the rows that differ.
void write_costs_html(fmt::memory_buffer& out, const CostComparison& costs);

}  // namespace symprof::report

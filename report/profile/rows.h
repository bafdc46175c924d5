// The rows of a report: nodes, or nodes folded into modules or operators, sorted and limited in
// number.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/profile/columns.h"
#include "report/profile/unmodelled.h"

namespace symprof::report {

enum class By : std::uint8_t { node, module, op };

struct RowOptions {
  By by = By::node;
  std::optional<int> depth;    ///< Module levels with separate rows; see profile/fold.h.
  std::optional<Column> sort;  ///< Largest first, or by name; empty: as they ran.
  std::optional<int> top;      ///< The rest becomes one row.
  Unit unit = Unit::flops;
};

struct Row {
  std::string op_type;
  std::string op;
  std::string module;
  int depth = 0;              ///< Indentation.
  std::vector<NodeId> nodes;  ///< In the order in which they ran.
  RowFigures figures;
  UnmodelledCalls unmodelled;
  bool upper_bound = false;  ///< One of its nodes has it; see NodeRecord.
  bool is_rest = false;      ///< The sum of the rows that --top cuts: it has no running sum.
};

/// The text of a column with is_text().
std::string text_of(const Row& row, Column column);
/// A figure of `row` in bytes, FLOPs (in `unit`) or calls; empty for columns of text and for a
/// running sum that does not exist.
std::optional<std::int64_t> figure(const Row& row, Column column, Unit unit);
/// Calls without a rule that a column lacks.
std::int64_t unmodelled(const Row& row, Column column);
/// Number of the row's calls that `figure`, a time, lacks because their time is unknown.
std::int64_t unknown_times(const RowFigures& row, const Figure& figure);

/// The rows of `profile`, folded, sorted and cut as `options` say.
std::vector<Row> rows(const Profile& profile, const RowOptions& options);

/// All rows, in execution order; by module with a depth, calls of one operator behind each other
/// that are in no module and cost nothing are one row. This and the next two are rows() in three
/// parts, for the profiles of one model at several sizes, whose rows must be in the same order.
std::vector<Row> rows_as_run(const Profile& profile, const RowOptions& options);
/// The places of `rows` in the order that `options` wants.
std::vector<std::size_t> order_of(const std::vector<Row>& rows, const RowOptions& options);
/// `rows` in the order of order_of(), cut after `options.top`.
std::vector<Row> arrange(const std::vector<Row>& rows, const std::vector<std::size_t>& order,
                         const RowOptions& options);

}  // namespace symprof::report

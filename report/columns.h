// The columns of the per-node report: one list, for the table, the CSV, --columns and --sort.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/step_options.h"

namespace symprof::report {

enum class Column : std::uint8_t {
  op_type,
  op,
  accumulate,
  incremental,
  output,
  temp,
  param,
  backward,
  fwd_flops,
  bwd_flops,
  module,
  recompute_flops,
  optimizer_flops,
  calls,
  confidence,
};

/// What FLOPs are printed in.
enum class Unit : std::uint8_t {
  flops,  ///< A multiply-add is 2.
  macs,   ///< Products halved, so that a multiply-add is 1; the rest as it is.
};

/// FLOPs of products as `unit` counts them.
constexpr std::int64_t in_unit(std::int64_t products, Unit unit) {
  return unit == Unit::flops ? products : products / 2;
}

struct ColumnInfo {
  Column column;
  std::string_view key;          ///< As --columns and --sort name it.
  std::string_view title;        ///< In the table.
  std::string_view short_title;  ///< Where the terminal is narrow.
  std::string_view csv_name;     ///< In the CSV, with the unit.
  std::string meaning;           ///< One line for --help; may refer to settings.
};

/// All of them, in the order of Column.
std::span<const ColumnInfo> columns();
const ColumnInfo& info(Column column);
/// Whether it has words and not figures.
constexpr bool is_text(Column column) {
  return column == Column::op_type || column == Column::op || column == Column::module ||
         column == Column::confidence;
}
/// Whether its figures are FLOPs.
constexpr bool counts_flops(Column column) {
  return column == Column::fwd_flops || column == Column::bwd_flops ||
         column == Column::recompute_flops || column == Column::optimizer_flops;
}
/// What is printed when nothing else is asked for: ten columns, and the FLOPs of an optimizer where
/// the step has one.
std::vector<Column> default_columns(Optimizer optimizer);

/// "FLOPs" or "MACs".
std::string_view name(Unit unit);
/// Title and CSV name in `unit`: "Fwd MACs", "fwd_macs".
std::string title(Column column, Unit unit);
std::string short_title(Column column, Unit unit);
std::string csv_name(Column column, Unit unit);

}  // namespace symprof::report

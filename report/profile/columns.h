// The columns of the per-node report: one list, for the table, the CSV, --columns and --sort.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/step_options.h"
#include "report/profile/figure_values.h"

namespace symprof::report {

/// Columns that identify a row, beside its figures.
enum class Words : std::uint8_t { none, op_type, op, module, confidence, limit };

struct Column {
  Words words = Words::none;
  const Figure* figure = nullptr;  ///< Null where it has words.

  friend bool operator==(const Column&, const Column&) = default;
};

/// All columns, in the order of help: the table's default columns before the optional ones, and
/// words before figures except for the confidence.
std::span<const Column> columns();
/// The column that --columns and --sort call `name`; "saved" is another name for "incremental".
/// Empty if there is none.
std::optional<Column> find_column(std::string_view name);

/// The default columns: ten, and the optimizer's FLOPs where the step has one. `with_times`: and
/// those of times.
std::vector<Column> default_columns(Optimizer optimizer, bool with_times = false);
/// Formulas are wide: of these columns, the ones that they have unasked.
std::vector<Column> default_formula_columns(Optimizer optimizer);

constexpr bool is_text(Column column) { return column.figure == nullptr; }

/// The name for --columns and --sort.
std::string_view name(Column column);
/// One line for --help.
std::string_view meaning(Column column);
/// In the table: "Fwd MACs".
std::string title(Column column, Unit unit);
/// The title for narrow terminals.
std::string short_title(Column column, Unit unit);
/// In the CSV, with the unit: "fwd_macs", "param_bytes".
std::string csv_name(Column column, Unit unit);

}  // namespace symprof::report

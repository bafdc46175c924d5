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

/// What says which row it is, beside its figures.
enum class Words : std::uint8_t { none, op_type, op, module, confidence, limit };

struct Column {
  Words words = Words::none;
  const Figure* figure = nullptr;  ///< Null where it has words.

  friend bool operator==(const Column&, const Column&) = default;
};

/// All of them, in the order in which help lists them: what a table has by itself comes before what
/// is there on request, and words before figures but for the confidence.
std::span<const Column> columns();
/// The one that --columns and --sort call `name`; "saved" is another name for "incremental". Empty
/// where there is none.
std::optional<Column> find_column(std::string_view name);

/// What is printed when nothing else is asked for: ten columns, and the FLOPs of an optimizer where
/// the step has one.
/// `with_times`: and those of times.
std::vector<Column> default_columns(Optimizer optimizer, bool with_times = false);
/// Formulas are wide: of these columns, the ones that they have unasked.
std::vector<Column> default_formula_columns(Optimizer optimizer);

constexpr bool is_text(Column column) { return column.figure == nullptr; }

/// As --columns and --sort name it.
std::string_view name(Column column);
/// One line for --help.
std::string_view meaning(Column column);
/// In the table: "Fwd MACs".
std::string title(Column column, Unit unit);
/// Where the terminal is narrow.
std::string short_title(Column column, Unit unit);
/// In the CSV, with the unit: "fwd_macs", "param_bytes".
std::string csv_name(Column column, Unit unit);

}  // namespace symprof::report

#include "report/table.h"

#include <iterator>

#include "report/footer.h"
#include "report/format_number.h"
#include "report/names.h"
#include "report/text_table.h"

namespace symprof::report {
namespace {

bool is_text(Column column) {
  return column == Column::op_type || column == Column::op || column == Column::module ||
         column == Column::confidence;
}

Quantity quantity(std::int64_t value, Column column, Precision precision) {
  if (column == Column::calls) return {group_digits(value), ""};
  if (column == Column::fwd_flops || column == Column::bwd_flops)
    return scale_count(value, precision);
  return scale_bytes(value, precision);
}

TextCell number_cell(const Row& row, Column column, Unit unit, Precision precision) {
  const std::optional<std::int64_t> value = figure(row, column, unit);
  if (!value) return {""};
  const bool incomplete = unmodelled(row, column) > 0;
  if (incomplete && *value == 0) return {"?", "", Emphasis::alert};
  const Quantity scaled = quantity(*value, column, precision);
  if (incomplete) return {">" + scaled.number, scaled.unit, Emphasis::alert};
  return {scaled.number, scaled.unit, *value == 0 ? Emphasis::faint : Emphasis::normal};
}

TextCell text_cell(const Row& row, Column column) {
  switch (column) {
    case Column::op_type:
      return {row.op_type};
    case Column::op:
      return {row.op, "", Emphasis::normal, row.depth};
    case Column::module:
      return {row.module};
    default:
      return {
          std::string(name(row.figures.confidence)), "",
          row.figures.confidence == Confidence::unmodelled ? Emphasis::alert : Emphasis::normal};
  }
}

TextColumn text_column(Column column, Unit unit) {
  const int least = column == Column::op_type ? 12 : column == Column::op ? 16 : 12;
  if (!is_text(column)) return {title(column, unit), Align::number};
  return {title(column, unit), Align::left, least};
}

TextTable build(const std::vector<Row>& rows, const std::vector<Column>& columns, Unit unit,
                Precision precision) {
  TextTable table;
  for (const Column column : columns) table.columns.push_back(text_column(column, unit));
  for (const Row& row : rows) {
    TextRow line;
    for (const Column column : columns)
      line.cells.push_back(is_text(column) ? text_cell(row, column)
                                           : number_cell(row, column, unit, precision));
    table.rows.push_back(std::move(line));
  }
  return table;
}

/// Fewer digits where the terminal would leave names too little room to be told apart.
TextTable build_for(const Layout& layout, const std::vector<Row>& rows,
                    const std::vector<Column>& columns, Unit unit) {
  constexpr int room_for_names = 16;
  TextTable table = build(rows, columns, unit, Precision::decimals);
  if (!layout.width || natural_width(table) <= *layout.width ||
      least_width(table) + room_for_names <= *layout.width)
    return table;
  return build(rows, columns, unit, Precision::significant);
}

}  // namespace

void write_table(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                 const RowOptions& row_options, const std::vector<Column>& columns,
                 const Layout& layout) {
  fmt::format_to(std::back_inserter(out), "{}: {}\n\n",
                 emphasize(profile.recording.path, Emphasis::strong, layout.colour),
                 coverage_line(profile.coverage));
  write(out, build_for(layout, rows(profile, row_options), columns, row_options.unit), layout);
  out.push_back('\n');
  write_footer(out, profile, options, row_options.unit, layout);
}

}  // namespace symprof::report

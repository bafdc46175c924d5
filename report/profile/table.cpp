#include "report/profile/table.h"

#include <iterator>

#include "report/profile/footer.h"
#include "report/profile/names.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

Quantity quantity(std::int64_t value, FigureUnit unit, Precision precision) {
  if (unit == FigureUnit::count) return {group_digits(value), ""};
  if (unit == FigureUnit::bytes) return scale_bytes(value, precision);
  if (unit == FigureUnit::microseconds) return scale_time(value, precision);
  if (unit == FigureUnit::share)
    return {fmt::format("{:.1f}", static_cast<double>(value) / 1e4), "%"};
  return scale_count(value, precision);
}

TextCell number_cell(const Row& row, Column column, Unit unit, Precision precision) {
  const std::optional<std::int64_t> value = figure(row, column, unit);
  if (!value) return {""};
  const bool incomplete = unmodelled(row, column) > 0;
  if (incomplete && *value == 0) return {"?", "", Emphasis::alert};
  const Quantity scaled = quantity(*value, column.figure->unit, precision);
  if (incomplete) return {">" + scaled.number, scaled.unit, Emphasis::alert};
  return {scaled.number, scaled.unit, *value == 0 ? Emphasis::faint : Emphasis::normal};
}

std::string without_namespace(const std::string& op) {
  const std::size_t colons = op.find("::");
  return colons == std::string::npos ? op : op.substr(colons + 2);
}

TextCell text_cell(const Row& row, Column column, Density density) {
  switch (column.words) {
    case Words::op_type:
      return {density == Density::roomy ? row.op_type : without_namespace(row.op_type)};
    case Words::op:
      return {text_of(row, column), "", Emphasis::normal, row.depth};
    case Words::confidence:
      return {
          text_of(row, column), "",
          row.figures.confidence == Confidence::unmodelled ? Emphasis::alert : Emphasis::normal};
    default:
      return {text_of(row, column)};
  }
}

TextColumn text_column(Column column, Unit unit, Density density) {
  const std::string text =
      density == Density::roomy ? title(column, unit) : short_title(column, unit);
  if (!is_text(column)) return {text, Align::number};
  return {text, Align::left, column.words == Words::op ? 18 : 8};
}

}  // namespace

TextTable text_table(const std::vector<Row>& rows, const std::vector<Column>& columns, Unit unit,
                     Density density) {
  const Precision precision =
      density == Density::roomy ? Precision::decimals : Precision::significant;
  TextTable table;
  table.gap = density == Density::roomy ? 2 : 1;
  for (const Column column : columns) table.columns.push_back(text_column(column, unit, density));
  for (const Row& row : rows) {
    TextRow line;
    for (const Column column : columns)
      line.cells.push_back(is_text(column) ? text_cell(row, column, density)
                                           : number_cell(row, column, unit, precision));
    table.rows.push_back(std::move(line));
  }
  return table;
}

namespace {

/// Fewer digits and blanks, and operators without their namespace, if names would otherwise be too
/// short to be distinct.
TextTable build_for(const Layout& layout, const std::vector<Row>& rows,
                    const std::vector<Column>& columns, Unit unit) {
  constexpr int room_for_names = 16;
  TextTable table = text_table(rows, columns, unit, Density::roomy);
  if (!layout.width || natural_width(table) <= *layout.width ||
      least_width(table) + room_for_names <= *layout.width)
    return table;
  return text_table(rows, columns, unit, Density::tight);
}

}  // namespace

void write_table(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                 const RowOptions& row_options, const std::vector<Column>& columns,
                 const Layout& layout) {
  fmt::format_to(std::back_inserter(out), "{}: {}\n\n",
                 emphasize(profile.recording.path, Emphasis::strong, layout.color),
                 coverage_line(profile.coverage));
  write(out, build_for(layout, rows(profile, row_options), columns, row_options.unit), layout);
  out.push_back('\n');
  write_footer(out, profile, options, row_options.unit, layout);
}

}  // namespace symprof::report

#include "report/profile/csv.h"

#include <iterator>

#include "report/profile/names.h"
#include "report/write/csv_field.h"

namespace symprof::report {

namespace {

std::string field(const Row& row, Column column, Unit unit) {
  switch (column.words) {
    case Words::op_type:
      return csv_field(row.op_type);
    case Words::op:
      return csv_field(row.op);
    case Words::module:
      return csv_field(row.module);
    case Words::confidence:
    case Words::limit:
      return text_of(row, column);
    case Words::none:
      break;
  }
  const std::optional<std::int64_t> value = figure(row, column, unit);
  return !value || unmodelled(row, column) > 0 ? "" : plain_text(*column.figure, *value);
}

}  // namespace

void write_csv(fmt::memory_buffer& out, const Profile& profile, const RowOptions& row_options,
               const std::vector<Column>& columns) {
  const auto write_line = [&](auto&& text_of) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      fmt::format_to(std::back_inserter(out), "{}{}", i ? "," : "", text_of(columns[i]));
    out.append(std::string_view("\r\n"));
  };
  write_line([&](Column column) { return csv_name(column, row_options.unit); });
  for (const Row& row : rows(profile, row_options))
    write_line([&](Column column) { return field(row, column, row_options.unit); });
}

}  // namespace symprof::report

#include "report/profile/read_rows.h"

#include <fmt/format.h>

#include "base/error.h"
#include "session/read_text.h"

namespace symprof::report {
namespace {

constexpr settings::Named<By> groupings[] = {
    {"node", By::node}, {"module", By::module}, {"op", By::op}};
constexpr settings::Named<Unit> unit_names[] = {{"flops", Unit::flops}, {"macs", Unit::macs}};

}  // namespace

By read_by(const std::string& name) { return settings::choose(SettingRef{"by"}, name, groupings); }

RowOptions read_rows(const RowTexts& texts) {
  RowOptions rows;
  if (!texts.depth.empty()) rows.depth = settings::parse_count(SettingRef{"depth"}, texts.depth, 1);
  rows.by = rows.depth ? By::module : By::node;
  if (!texts.by.empty()) rows.by = read_by(texts.by);
  if (rows.depth && rows.by != By::module)
    throw Error(SettingRef{"depth"},
                fmt::format("it counts module levels, and {} has none.", setting("by", texts.by)),
                fmt::format("Leave one of them out, or write {}.", setting("by", "module")));
  if (!texts.sort.empty()) rows.sort = read_column(SettingRef{"sort"}, texts.sort);
  if (!texts.top.empty()) rows.top = settings::parse_count(SettingRef{"top"}, texts.top, 1);
  rows.unit = settings::choose(SettingRef{"unit"}, texts.unit, unit_names);
  return rows;
}

Column read_column(const SettingRef& where, const std::string& name) {
  if (const std::optional<Column> column = find_column(name)) return *column;
  std::vector<std::string> accepted;
  for (const Column column : columns()) accepted.emplace_back(report::name(column));
  settings::reject(where, name, accepted);
}

std::vector<Column> read_columns(const std::string& names) {
  std::vector<Column> columns;
  for (const std::string& name : settings::split_list(names))
    columns.push_back(read_column(SettingRef{"columns"}, name));
  return columns;
}

}  // namespace symprof::report

#include "report/onnx/node_costs.h"

#include "report/profile/rows.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

std::string with_unit(const Quantity& scaled) {
  return scaled.unit.empty() ? scaled.number : scaled.number + " " + scaled.unit;
}

std::string listed_cell(const Row& row, Column column) {
  if (is_text(column)) return text_of(row, column);
  const auto value = figure(row, column, Unit::flops);
  if (!value || *value == 0) return value ? "0" : "";
  if (is_time(*column.figure)) return plain_text(*column.figure, *value);
  const Quantity scaled = column.figure->unit == FigureUnit::bytes
                              ? scale_bytes(*value, Precision::decimals)
                              : scale_count(*value, Precision::decimals);
  return scaled.number + " " + scaled.unit;
}

PageCosts::Cell page_cell(const Row& row, Column column) {
  const auto value = figure(row, column, Unit::flops);
  if (!value) return {-1, "?"};
  if (column.figure->unit == FigureUnit::bytes) return {*value, format_bytes(*value)};
  return {*value, with_unit(scale_count(*value, Precision::decimals))};
}

/// Calls `visit` with each node's name and row.
template <class Visit>
void for_each_node(const Profile& profile, Visit visit) {
  const std::vector<Row> all = rows(profile, {});
  for (std::size_t i = 0; i < all.size() && i < profile.nodes.size(); ++i)
    visit(profile.recording.nodes[i].name, all[i]);
}

}  // namespace

CostColumns listed_costs(const Profile& profile, const std::vector<Column>& columns) {
  CostColumns costs;
  for (const Column column : columns) costs.titles.push_back(title(column, Unit::flops));
  for_each_node(profile, [&](const std::string& node, const Row& row) {
    auto& cells = costs.cells[node];
    for (const Column column : columns) cells.push_back(listed_cell(row, column));
  });
  return costs;
}

NodeCosts drawn_costs(const Profile& profile, Column column) {
  NodeCosts costs;
  for_each_node(profile, [&](const std::string& node, const Row& row) {
    if (const auto value = figure(row, column, Unit::flops)) costs[node] = *value;
  });
  return costs;
}

PageCosts page_costs(const Profile& profile, const std::vector<Column>& columns) {
  PageCosts costs;
  for (const Column column : columns) costs.titles.push_back(title(column, Unit::flops));
  for_each_node(profile, [&](const std::string& node, const Row& row) {
    for (const Column column : columns) costs.cells[node].push_back(page_cell(row, column));
  });
  return costs;
}

}  // namespace symprof::report

#include "report/formulas/formula_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace symprof::report {
namespace {

std::vector<const Figure*> list_totals() {
  std::vector<const Figure*> result;
  for (const Figure& figure : profile::figures())
    if (figure.formula.place > 0) result.push_back(&figure);
  std::ranges::stable_sort(result, {}, [](const Figure* figure) { return figure->formula.place; });
  return result;
}

void check_rows(const std::vector<Row>& rows, const std::vector<Row>& first) {
  const std::string advice =
      "What runs depends on this size (a loop, a branch): no formula can say that.";
  if (rows.size() != first.size())
    throw Error(SettingRef{"symbolic"},
                fmt::format("the model has {} rows at one size and {} at another", first.size(),
                            rows.size()),
                advice);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].op != first[i].op || rows[i].op_type != first[i].op_type)
      throw Error(
          SettingRef{"symbolic"},
          fmt::format("row {} is {} at one size and {} at another", i, first[i].op, rows[i].op),
          advice);
}

}  // namespace

std::span<const Figure* const> formula_totals() {
  static const std::vector<const Figure*> all = list_totals();
  return all;
}

std::size_t index_of_total(std::string_view key) {
  const std::span<const Figure* const> totals = formula_totals();
  return std::ranges::find(totals, key, &Figure::key) - totals.begin();
}

FigureList list_figures(const Profile& first, const RowOptions& options,
                        const std::vector<Column>& columns) {
  FigureList list{.options = options, .as_run = rows_as_run(first, options)};
  list.order = order_of(list.as_run, options);
  list.rows = arrange(list.as_run, list.order, options);
  for (std::size_t row = 0; row < list.rows.size(); ++row)
    for (const Column column : columns)
      if (figure(list.rows[row], column, options.unit)) list.cells.push_back({row, column});
  return list;
}

std::vector<std::int64_t> figures(const Profile& profile, const FigureList& list) {
  std::vector<std::int64_t> result;
  for (const Figure* total : formula_totals())
    result.push_back(total_of(*total, profile, list.options.unit).value_or(0));
  const std::vector<Row> as_run = rows_as_run(profile, list.options);
  check_rows(as_run, list.as_run);
  const std::vector<Row> rows = arrange(as_run, list.order, list.options);
  for (const FigureList::Cell& cell : list.cells)
    result.push_back(figure(rows[cell.row], cell.column, list.options.unit).value_or(0));
  return result;
}

}  // namespace symprof::report

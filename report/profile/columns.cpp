#include "report/profile/columns.h"

#include <algorithm>

namespace symprof::report {
namespace {

using profile::Shown;

struct WordsInfo {
  Words words;
  std::string_view name, title, meaning;
};

constexpr WordsInfo words_infos[] = {
    {Words::op_type, "op_type", "Op type", "operator, or a module's class"},
    {Words::op, "op", "Op", "the node's or module's name"},
    {Words::module, "module", "Module", "the module that made the call"},
    {Words::confidence, "confidence", "Confidence", "exact, modelled, free or unmodelled"},
    {Words::limit, "limit", "Limit",
     "`{time}`: the resource that limits most of the row's time: arithmetic, L2, memory, launch, "
     "link"},
};

const WordsInfo& info(Words words) {
  return *std::ranges::find(words_infos, words, &WordsInfo::words);
}

std::vector<Column> list_columns() {
  std::vector<Column> result = {{Words::op_type}, {Words::op}};
  const auto add_figures = [&](bool unasked) {
    for (const Figure& figure : profile::figures())
      if (!figure.column.name.empty() && (figure.shown == Shown::always) == unasked)
        result.push_back({Words::none, &figure});
  };
  add_figures(true);
  result.push_back({Words::module});
  add_figures(false);
  result.push_back({Words::confidence});
  result.push_back({Words::limit});
  return result;
}

}  // namespace

std::span<const Column> columns() {
  static const std::vector<Column> all = list_columns();
  return all;
}

std::optional<Column> find_column(std::string_view wanted) {
  // A row's increment of the bytes saved for backward.
  if (wanted == "saved") wanted = "incremental";
  for (const Column column : columns())
    if (name(column) == wanted) return column;
  return std::nullopt;
}

std::vector<Column> default_columns(Optimizer optimizer, bool with_times) {
  const auto is_shown = [&](Shown shown) {
    const bool updates = optimizer != Optimizer::none;
    return shown == Shown::always || (shown == Shown::with_optimizer && updates) ||
           (shown == Shown::with_times && with_times) ||
           (shown == Shown::with_optimizer_time && with_times && updates);
  };
  std::vector<Column> result = {{Words::op_type}, {Words::op}};
  for (const Column column : columns())
    if (!is_text(column) && is_shown(column.figure->shown)) result.push_back(column);
  if (with_times) result.push_back({Words::limit});
  return result;
}

std::vector<Column> default_formula_columns(Optimizer optimizer) {
  std::vector<Column> result = default_columns(optimizer);
  std::erase_if(
      result, [](Column column) { return !is_text(column) && !column.figure->is_formula_column; });
  return result;
}

std::string_view name(Column column) {
  return is_text(column) ? info(column.words).name : column.figure->column.name;
}

std::string_view meaning(Column column) {
  return is_text(column) ? info(column.words).meaning : column.figure->meaning;
}

std::string title(Column column, Unit unit) {
  if (is_text(column)) return std::string(info(column.words).title);
  return in_unit(column.figure->column.title, *column.figure, unit);
}

std::string short_title(Column column, Unit unit) {
  if (is_text(column)) return std::string(info(column.words).title);
  return in_unit(column.figure->column.short_title, *column.figure, unit);
}

std::string csv_name(Column column, Unit unit) {
  if (is_text(column)) return std::string(info(column.words).name);
  const Figure& figure = *column.figure;
  const bool has_unit_in_key =
      figure.unit == FigureUnit::bytes || figure.unit == FigureUnit::microseconds;
  return in_unit(has_unit_in_key ? figure.key : figure.column.name, figure, unit);
}

}  // namespace symprof::report

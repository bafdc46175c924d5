#include "report/compare/costs_text.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "report/profile/footer.h"
#include "report/profile/table.h"
#include "report/profile/timeline_svg.h"
#include "report/write/format_number.h"
#include "report/write/html_head.h"
#include "report/write/json_writer.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

std::string name_of(const Row& row, By by) { return by == By::op ? row.op_type : row.op; }

/// "layers.0", or "layers.0 -> blocks.0" where the two sides differ in the name.
std::string name_of(const CostComparison& costs, const CostLine& line) {
  const By by = costs.options.by;
  if (!line.b) return name_of(costs.rows_a[*line.a], by);
  if (!line.a) return name_of(costs.rows_b[*line.b], by);
  const std::string a = name_of(costs.rows_a[*line.a], by), b = name_of(costs.rows_b[*line.b], by);
  return a == b ? a : a + " → " + b;
}

/// The lines of a table, and how many others one row sums.
struct ShownLines {
  std::vector<CostLine> lines, others, alike;
};

ShownLines shown_lines(const CostComparison& costs) {
  ShownLines shown;
  for (const CostLine& line : costs.lines)
    (line.mark == '=' ? shown.alike : shown.lines).push_back(line);
  if (costs.options.sort && !is_text(*costs.options.sort)) {
    const Column column = *costs.options.sort;
    std::ranges::stable_sort(shown.lines, [&](const CostLine& x, const CostLine& y) {
      return std::abs(costs.figure(x, column).change()) >
             std::abs(costs.figure(y, column).change());
    });
  }
  if (costs.options.top && shown.lines.size() > static_cast<std::size_t>(*costs.options.top)) {
    const auto first = shown.lines.begin() + *costs.options.top;
    shown.others.assign(first, shown.lines.end());
    shown.lines.erase(first, shown.lines.end());
  }
  return shown;
}

/// Sums a figure over lines; empty if one of them is unknown on a side that has the row.
CostChange sum_of(const CostComparison& costs, const std::vector<CostLine>& lines, Column column) {
  CostChange sum{0, 0};
  for (const CostLine& line : lines) {
    const CostChange one = costs.figure(line, column);
    if (line.a) sum.a = sum.a && one.a ? std::optional(*sum.a + *one.a) : std::nullopt;
    if (line.b) sum.b = sum.b && one.b ? std::optional(*sum.b + *one.b) : std::nullopt;
  }
  return sum;
}

Quantity quantity(std::int64_t value, const Figure& figure) {
  const auto precision = Precision::decimals;
  switch (figure.unit) {
    case FigureUnit::bytes:
      return scale_bytes(value, precision);
    case FigureUnit::microseconds:
      return scale_time(value, precision);
    case FigureUnit::count:
      return {group_digits(value), ""};
    case FigureUnit::share:
      return {fmt::format("{:.1f}", static_cast<double>(value) / 1e4), "%"};
    default:
      return scale_count(value, precision);
  }
}

std::string text_of(const std::optional<std::int64_t>& value, const Figure& figure) {
  if (!value) return "?";
  const Quantity scaled = quantity(*value, figure);
  return scaled.unit.empty() ? scaled.number : scaled.number + ' ' + scaled.unit;
}

/// "+12.5 %", "−3.0 %"; "new" and "gone" where one side is zero.
std::string change_text(const CostChange& value) {
  if (!value.a || !value.b || *value.a == *value.b) return "";
  if (*value.a == 0) return "new";
  if (*value.b == 0) return "gone";
  const double change = 100.0 * static_cast<double>(value.change()) / static_cast<double>(*value.a);
  return fmt::format("{:+.1f} %", change);
}

TextCell cell_of(const std::optional<std::int64_t>& value, bool is_there, bool differs,
                 const Figure& figure) {
  if (!is_there) return {""};
  if (!value) return {"?", "", Emphasis::alert};
  const Quantity scaled = quantity(*value, figure);
  return {scaled.number, scaled.unit, differs ? Emphasis::normal : Emphasis::faint};
}

void add_cells(TextRow& row, const CostChange& change, bool has_a, bool has_b,
               const Figure& figure) {
  const bool differs = change.a != change.b;
  row.cells.push_back(cell_of(change.a, has_a, differs, figure));
  row.cells.push_back(cell_of(change.b, has_b, differs, figure));
}

TextRow sum_row(const CostComparison& costs, const std::vector<CostLine>& lines,
                const std::string& name) {
  TextRow row;
  row.cells = {{""}, {name, "", Emphasis::faint}};
  for (const Column column : costs.columns)
    add_cells(row, sum_of(costs, lines, column), true, true, *column.figure);
  return row;
}

TextTable rows_table(const CostComparison& costs) {
  TextTable table;
  table.columns = {{""}, {"Op", Align::left, 18}};
  for (const Column column : costs.columns)
    for (const char* side : {" A", " B"})
      table.columns.push_back({title(column, costs.options.unit) + side, Align::number});
  const ShownLines shown = shown_lines(costs);
  for (const CostLine& line : shown.lines) {
    TextRow row;
    row.cells = {{std::string(1, line.mark)}, {name_of(costs, line)}};
    for (const Column column : costs.columns)
      add_cells(row, costs.figure(line, column), line.a.has_value(), line.b.has_value(),
                *column.figure);
    table.rows.push_back(std::move(row));
  }
  if (!shown.others.empty())
    table.rows.push_back(
        sum_row(costs, shown.others, fmt::format("[{} others]", shown.others.size())));
  if (!shown.alike.empty())
    table.rows.push_back(
        sum_row(costs, shown.alike, fmt::format("[{} alike]", shown.alike.size())));
  return table;
}

TextTable totals_table(const CostComparison& costs) {
  TextTable table;
  table.columns = {
      {"The step"}, {"A", Align::number}, {"B", Align::number}, {"Change", Align::number}};
  for (const TotalChange& total : compare_totals(costs)) {
    TextRow row;
    row.cells = {{std::string(total.label)}};
    add_cells(row, total.value, true, true, *total.figure);
    row.cells.push_back({change_text(total.value)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string summary_of(const CostComparison& costs) {
  return fmt::format("{} rows alike, {} with other figures, {} only in A, {} only in B",
                     costs.count('='), costs.count('~'), costs.count('-'), costs.count('+'));
}

void write_value(JsonWriter& json, const std::optional<std::int64_t>& value, const Figure& figure) {
  if (!value)
    json.null();
  else if (figure.unit == FigureUnit::microseconds)
    json.value(static_cast<double>(*value) / 1e3);
  else
    json.value(*value);
}

void write_change(JsonWriter& json, const CostChange& change, const Figure& figure, Unit unit) {
  json.key(in_unit(figure.key, figure, unit));
  json.begin_array();
  write_value(json, change.a, figure);
  write_value(json, change.b, figure);
  json.end_array();
}

void write_row(JsonWriter& json, std::string_view key, const Row* row) {
  json.key(key);
  if (row == nullptr) return json.null();
  json.begin_object();
  json.member("op_type", row->op_type);
  json.member("op", row->op);
  json.member("module", row->module);
  json.end_object();
}

constexpr std::string_view style = R"(
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child, .name { text-align: left; } th { font-weight: 600; }
.less { color: #15803d; } .more { color: #b91c1c; }
</style>
)";

void write_html_change(fmt::memory_buffer& out, const CostChange& change, bool has_a, bool has_b,
                       const Figure& figure) {
  const std::string a = has_a ? text_of(change.a, figure) : "";
  const std::string b = has_b ? text_of(change.b, figure) : "";
  const char* kind = change.change() < 0 ? "less" : change.change() > 0 ? "more" : "faint";
  fmt::format_to(std::back_inserter(out), "<td>{}</td><td class=\"{}\">{}</td>", escaped(a), kind,
                 escaped(b));
}

void write_html_totals(fmt::memory_buffer& out, const CostComparison& costs) {
  out.append(std::string_view(
      "<h2>The step</h2>\n<table>\n<tr><th>Total</th><th>A</th><th>B</th><th>Change</th></tr>\n"));
  for (const TotalChange& total : compare_totals(costs)) {
    fmt::format_to(std::back_inserter(out), "<tr><td>{}</td>", total.label);
    write_html_change(out, total.value, true, true, *total.figure);
    fmt::format_to(std::back_inserter(out), "<td>{}</td></tr>\n", change_text(total.value));
  }
  out.append(std::string_view("</table>\n"));
}

}  // namespace

void write_costs(fmt::memory_buffer& out, const CostComparison& costs, const Layout& layout) {
  for (const auto& [side, profile] : {std::pair("A", costs.a), std::pair("B", costs.b)})
    fmt::format_to(std::back_inserter(out), "{}: {}: {}\n", side,
                   emphasize(profile->recording.path, Emphasis::strong, layout.color),
                   coverage_line(profile->coverage));
  fmt::format_to(std::back_inserter(out), "{}\n\n", summary_of(costs));
  write(out, rows_table(costs), layout);
  out.push_back('\n');
  write(out, totals_table(costs), layout);
}

void write_costs_json(fmt::memory_buffer& out, const CostComparison& costs) {
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", "symprof.costs/1");
  json.member("before", costs.a->recording.path);
  json.member("after", costs.b->recording.path);
  json.line(2);
  json.key("totals");
  json.begin_object();
  for (const TotalChange& total : compare_totals(costs))
    write_change(json, total.value, *total.figure, costs.options.unit);
  json.end_object();
  json.line(2);
  json.key("rows");
  json.begin_array();
  for (const CostLine& line : costs.lines) {
    json.line(4);
    json.begin_object();
    json.member("mark", std::string_view(&line.mark, 1));
    write_row(json, "a", line.a ? &costs.rows_a[*line.a] : nullptr);
    write_row(json, "b", line.b ? &costs.rows_b[*line.b] : nullptr);
    json.key("figures");
    json.begin_object();
    for (const Column column : costs.columns)
      write_change(json, costs.figure(line, column), *column.figure, costs.options.unit);
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.end_document();
}

void write_costs_html(fmt::memory_buffer& out, const CostComparison& costs) {
  const auto print = [&](const std::string& text) { out.append(text); };
  print(html_head(escaped(costs.a->recording.path + " → " + costs.b->recording.path), style));
  print(fmt::format("<p>A: {}</p>\n<p>B: {}</p>\n<p class=\"faint\">{}</p>\n",
                    escaped(coverage_line(costs.a->coverage)),
                    escaped(coverage_line(costs.b->coverage)), summary_of(costs)));
  write_html_totals(out, costs);
  print("<h2>Rows that are not alike</h2>\n<table>\n<tr><th></th><th class=\"name\">Op</th>");
  for (const Column column : costs.columns)
    print(fmt::format("<th>{0} A</th><th>{0} B</th>", title(column, costs.options.unit)));
  print("</tr>\n");
  const ShownLines shown = shown_lines(costs);
  for (const CostLine& line : shown.lines) {
    print(fmt::format("<tr><td>{}</td><td class=\"name\">{}</td>", line.mark,
                      escaped(name_of(costs, line))));
    for (const Column column : costs.columns)
      write_html_change(out, costs.figure(line, column), line.a.has_value(), line.b.has_value(),
                        *column.figure);
    print("</tr>\n");
  }
  for (const auto& [lines, word] :
       {std::pair(&shown.others, "others"), std::pair(&shown.alike, "alike")}) {
    if (lines->empty()) continue;
    print(fmt::format("<tr class=\"faint\"><td></td><td class=\"name\">[{} {}]</td>", lines->size(),
                      word));
    for (const Column column : costs.columns)
      write_html_change(out, sum_of(costs, *lines, column), true, true, *column.figure);
    print("</tr>\n");
  }
  print("</table>\n</body>\n</html>\n");
}

}  // namespace symprof::report

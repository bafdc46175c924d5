#include "report/compare/costs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "workbench/compare/align.h"

namespace symprof::report {
namespace {

constexpr std::pair<std::string_view, std::string_view> total_rows[] = {
    {"fwd_flops_all", "forward FLOPs"},
    {"bwd_flops_all", "backward FLOPs"},
    {"optimizer_flops", "optimizer FLOPs"},
    {"param_bytes", "parameters"},
    {"grad_bytes", "gradients"},
    {"optimizer_bytes", "optimizer states"},
    {"saved_bytes", "saved for backward"},
    {"peak_allocated_bytes", "peak allocated"},
    {"peak_reserved_bytes", "peak reserved"},
    {"step_time_us", "time of a step"}};

/// Relative difference up to which times count as equal: a kernel's share of launch time varies.
constexpr double alike_times = 0.01;

std::optional<std::int64_t> known_figure(const Row& row, Column column, Unit unit) {
  if (unmodelled(row, column) > 0) return std::nullopt;
  if (is_time(*column.figure) && unknown_times(row.figures, *column.figure) > 0)
    return std::nullopt;
  return figure(row, column, unit);
}

/// The output tensor of a row of one node.
const TensorSpec* made_by(const Row& row, const Recording& recording) {
  const NodeRecord& node = recording.nodes[static_cast<std::size_t>(row.nodes.back())];
  for (const TensorRecord& output : node.outputs)
    if (output.spec >= 0) return &recording.specs[static_cast<std::size_t>(output.spec)];
  return nullptr;
}

/// A row in the form of workbench::align_best. Figures take the place of the sums of values: rows
/// of equal figures are near. Rows match by `dtype` and `shape`: for nodes the operator and its
/// output, for others the name.
workbench::Row as_values(const Row& row, const Profile& profile, By by,
                         const std::set<std::string>& shared_modules) {
  const Recording& recording = profile.recording;
  const NodeRecord& node = recording.nodes[static_cast<std::size_t>(row.nodes.front())];
  workbench::Row out;
  out.kind = node.kind == NodeKind::input ? workbench::RowKind::input : workbench::RowKind::result;
  out.op_type = row.op_type;
  out.name = by == By::op ? row.op_type : row.op;
  out.has_values = true;
  out.signature.letters = {'A', 'A', 'A', 'A'};
  const RowFigures& figures = row.figures;
  out.signature.sums = {
      static_cast<double>(figures.fwd_product_flops) + static_cast<double>(figures.fwd_other_flops),
      static_cast<double>(figures.moved_bytes), static_cast<double>(figures.incremental_bytes),
      static_cast<double>(figures.param_bytes)};
  out.shape.emplace();
  const TensorSpec* made = by == By::node ? made_by(row, recording) : nullptr;
  if (made == nullptr) {
    out.dtype = row.op_type;
    out.shape->emplace_back(out.name);
    return out;
  }
  out.dtype = std::string(name(made->dtype)) + ' ' + row.op_type;
  if (shared_modules.contains(row.module)) out.dtype += " in " + row.module;
  for (const std::int64_t size : made->sizes) out.shape->emplace_back(size);
  return out;
}

std::vector<workbench::Row> as_values(const std::vector<Row>& rows, const Profile& profile, By by,
                                      const std::set<std::string>& shared_modules) {
  std::vector<workbench::Row> out;
  out.reserve(rows.size());
  for (const Row& row : rows) out.push_back(as_values(row, profile, by, shared_modules));
  return out;
}

/// Modules of both sides: a name that is kept stands for its contents.
std::set<std::string> shared_modules(const std::vector<Row>& a, const std::vector<Row>& b) {
  std::set<std::string> of_a, shared;
  for (const Row& row : a) of_a.insert(row.module);
  for (const Row& row : b)
    if (of_a.contains(row.module)) shared.insert(row.module);
  return shared;
}

bool are_alike(const CostChange& change, Column column) {
  if (change.a == change.b || !change.a || !change.b || !is_time(*column.figure))
    return change.a == change.b;
  return std::abs(static_cast<double>(change.change())) <=
         alike_times * static_cast<double>(std::max(*change.a, *change.b));
}

char mark_of(const CostComparison& costs, const CostLine& line) {
  if (!line.a) return '+';
  if (!line.b) return '-';
  const bool is_alike = std::ranges::all_of(
      costs.columns, [&](Column column) { return are_alike(costs.figure(line, column), column); });
  return is_alike ? '=' : '~';
}

}  // namespace

std::size_t CostComparison::count(char mark) const {
  return static_cast<std::size_t>(std::ranges::count(lines, mark, &CostLine::mark));
}

CostChange CostComparison::figure(const CostLine& line, Column column) const {
  CostChange change;
  if (line.a) change.a = known_figure(rows_a[*line.a], column, options.unit);
  if (line.b) change.b = known_figure(rows_b[*line.b], column, options.unit);
  return change;
}

std::vector<Column> compared_columns(bool with_optimizer, bool with_times) {
  std::vector<Column> columns;
  for (const char* name : {"fwd_flops", "bwd_flops", "moved", "incremental"})
    columns.push_back(*find_column(name));
  if (with_optimizer) columns.push_back(*find_column("optimizer_flops"));
  if (with_times) columns.push_back(*find_column("time"));
  return columns;
}

CostComparison compare_costs(const Profile& a, const Profile& b, const RowOptions& options,
                             const std::vector<Column>& columns) {
  CostComparison costs{.a = &a, .b = &b, .options = options};
  std::ranges::copy_if(columns, std::back_inserter(costs.columns),
                       [](Column column) { return !is_text(column); });
  costs.rows_a = rows_as_run(a, options);
  costs.rows_b = rows_as_run(b, options);
  const std::set<std::string> shared = shared_modules(costs.rows_a, costs.rows_b);
  const workbench::Alignment alignment =
      workbench::align_best(as_values(costs.rows_a, a, options.by, shared),
                            as_values(costs.rows_b, b, options.by, shared));
  costs.lines.reserve(alignment.pairs.size());
  for (const workbench::RowPair& pair : alignment.pairs) {
    CostLine line{.a = pair.a, .b = pair.b};
    line.mark = mark_of(costs, line);
    costs.lines.push_back(line);
  }
  return costs;
}

std::vector<TotalChange> compare_totals(const CostComparison& costs) {
  std::vector<TotalChange> totals;
  for (const auto& [key, label] : total_rows) {
    const Figure& figure = profile::figure_of(key);
    const CostChange change{total_of(figure, *costs.a, costs.options.unit),
                            total_of(figure, *costs.b, costs.options.unit)};
    if (change.a.value_or(0) != 0 || change.b.value_or(0) != 0)
      totals.push_back({&figure, label, change});
  }
  return totals;
}

}  // namespace symprof::report

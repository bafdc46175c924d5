#include "report/profile/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "profile/figure_sums.h"
#include "profile/fold.h"
#include "report/profile/names.h"

namespace symprof::report {
namespace {

/// ONNX node names begin with the module's path ("/encoder/layers.0/MatMul"); exported ones do not.
bool holds_path(std::string name, const std::string& module) {
  std::replace(name.begin(), name.end(), '/', '.');
  return name.find(module) != std::string::npos;
}

std::string full_name(const NodeRecord& node) {
  if (node.module.empty() || holds_path(node.name, node.module)) return node.name;
  return node.module + "/" + node.name;
}

/// The last component of a module's class: "Linear" of "torch.nn.modules.linear.Linear".
std::string class_name(const std::string& type) { return type.substr(type.rfind('.') + 1); }

/// The class of the module at `path`, which one of the scopes around `node` is.
std::string module_class(const Recording& recording, const NodeRecord& node,
                         const std::string& path) {
  for (const std::int32_t scope : node.scopes)
    if (recording.modules[scope].path == path) return class_name(recording.modules[scope].type);
  return "module";
}

/// Without a depth, rows by module are those of torch.fx, with its names.
void describe(Row& row, const profile::FoldedRow& folded, const Recording& recording,
              const RowOptions& options) {
  const NodeRecord& first = recording.nodes[folded.nodes.front()];
  const bool is_node = folded.kind != "call_module" && options.by != By::op;
  row.module = folded.module;
  row.op = folded.name;
  if (options.by == By::module && !options.depth) {
    row.op_type = folded.kind;
  } else if (is_node) {
    row.op_type = first.op;
    row.op = full_name(first);
  } else if (options.by == By::op) {
    row.op_type = first.op;
    row.op = folded.nodes.size() == 1 ? first.name : fmt::format("{} nodes", folded.nodes.size());
  } else {
    row.op_type = module_class(recording, first, folded.module);
  }
}

Row row_of(const profile::FoldedRow& folded, const Profile& profile, const RowOptions& options) {
  Row row;
  describe(row, folded, profile.recording, options);
  row.figures = folded.figures;
  row.nodes = folded.nodes;
  for (const NodeId id : folded.nodes) {
    const NodeProfile& node = profile.nodes[id];
    row.upper_bound |= profile.recording.nodes[id].upper_bound;
    row.unmodelled += unmodelled_calls(node, profile.recording);
  }
  return row;
}

/// The limit of most of the row's time; empty if there is none.
std::string limit_of(const RowFigures& row) {
  const auto longest = std::ranges::max_element(row.times.limited_ns);
  if (*longest == 0) return "";
  return std::string(
      profile::name(static_cast<profile::Limit>(longest - row.times.limited_ns.begin())));
}

void add(Row& sum, const Row& row) {
  profile::add_row(sum.figures, row.figures);
  sum.upper_bound |= row.upper_bound;
  sum.unmodelled += row.unmodelled;
  sum.nodes.insert(sum.nodes.end(), row.nodes.begin(), row.nodes.end());
}

bool comes_before(const Row& left, const Row& right, const RowOptions& options) {
  const Column column = *options.sort;
  switch (column.words) {
    case Words::op_type:
      return left.op_type < right.op_type;
    case Words::op:
      return left.op < right.op;
    case Words::module:
      return left.module < right.module;
    case Words::confidence:
      return profile::certainty(left.figures.confidence) <
             profile::certainty(right.figures.confidence);
    case Words::limit:
      return limit_of(left.figures) < limit_of(right.figures);
    case Words::none:
      break;
  }
  return figure(left, column, options.unit) > figure(right, column, options.unit);
}

/// Keeps the first `top` rows; one row sums the others, so that nothing is lost.
void cut(std::vector<Row>& rows, std::size_t top) {
  if (rows.size() <= top) return;
  Row others{.op_type = fmt::format("[{} others]", rows.size() - top), .is_rest = true};
  for (std::size_t i = top; i < rows.size(); ++i) add(others, rows[i]);
  rows.resize(top);
  rows.push_back(std::move(others));
}

/// Views, and copies that copy nothing.
bool costs_nothing(const RowFigures& row) {
  return row.confidence == Confidence::free && row.output_bytes == 0 && row.temp_bytes == 0 &&
         row.param_bytes == 0 && row.time_ns == 0;
}

/// A compiled function has dozens of them between two modules.
bool is_more_of(const Row& before, const Row& row) {
  return before.op_type == row.op_type && before.module == row.module &&
         costs_nothing(before.figures) && costs_nothing(row.figures);
}

void append(Row& before, const Row& row) {
  add(before, row);
  before.figures.accumulate_bytes = row.figures.accumulate_bytes;
  before.op = fmt::format("{} nodes", before.nodes.size());
}

profile::FoldBy fold_by(By by) {
  switch (by) {
    case By::module:
      return profile::FoldBy::module;
    case By::op:
      return profile::FoldBy::op;
    default:
      return profile::FoldBy::node;
  }
}

}  // namespace

std::string text_of(const Row& row, Column column) {
  switch (column.words) {
    case Words::op_type:
      return row.op_type;
    case Words::op:
      return row.upper_bound ? "≤ " + row.op : row.op;
    case Words::module:
      return row.module;
    case Words::limit:
      return limit_of(row.figures);
    default:
      return std::string(name(row.figures.confidence));
  }
}

std::optional<std::int64_t> figure(const Row& row, Column column, Unit unit) {
  if (is_text(column)) return std::nullopt;
  if (row.is_rest && column.figure->fold == profile::Fold::running) return std::nullopt;
  return value_of(*column.figure, row.figures, unit);
}

std::int64_t unknown_times(const RowFigures& row, const Figure& figure) {
  const RowTimes::UnknownCalls& times = row.times.unknown;
  return figure.calls == profile::CallsOf::none
             ? times.forward + times.backward + times.optimizer
             : unmodelled({times.forward, times.backward, times.optimizer}, figure);
}

std::int64_t unmodelled(const Row& row, Column column) {
  if (is_text(column)) return 0;
  return is_time(*column.figure) ? unknown_times(row.figures, *column.figure)
                                 : unmodelled(row.unmodelled, *column.figure);
}

std::vector<Row> rows_as_run(const Profile& profile, const RowOptions& options) {
  std::vector<Row> result;
  const profile::FoldOptions fold{fold_by(options.by), options.depth};
  bool was_call = false;  // The row before is one of calls outside of the modules.
  for (const profile::FoldedRow& folded : profile::fold(profile, fold)) {
    Row row = row_of(folded, profile, options);
    if (row.figures.calls == 0 && (folded.kind == "loss" || folded.kind == "optimizer")) continue;
    const bool is_call = options.by == By::module && options.depth && folded.kind != "call_module";
    if (is_call && was_call && is_more_of(result.back(), row))
      append(result.back(), row);
    else
      result.push_back(std::move(row));
    was_call = is_call;
  }
  return result;
}

std::vector<std::size_t> order_of(const std::vector<Row>& rows, const RowOptions& options) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options.sort)
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
      return comes_before(rows[left], rows[right], options);
    });
  return order;
}

std::vector<Row> arrange(const std::vector<Row>& rows, const std::vector<std::size_t>& order,
                         const RowOptions& options) {
  std::vector<Row> result;
  result.reserve(order.size());
  for (const std::size_t place : order) result.push_back(rows[place]);
  if (options.top) cut(result, static_cast<std::size_t>(*options.top));
  return result;
}

std::vector<Row> rows(const Profile& profile, const RowOptions& options) {
  const std::vector<Row> all = rows_as_run(profile, options);
  return arrange(all, order_of(all, options), options);
}

}  // namespace symprof::report

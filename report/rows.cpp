#include "report/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "profile/cost/cost.h"
#include "profile/fold.h"
#include "report/names.h"

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

/// Without a depth, rows by module are those of torch.fx, and are called as it calls them.
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
  row.accumulate_bytes = folded.accumulate_bytes;
  for (const NodeId id : folded.nodes) {
    const NodeProfile& node = profile.nodes[id];
    row.upper_bound |= profile.recording.nodes[id].upper_bound;
    row.calls += static_cast<std::int64_t>(node.calls.size());
    row.unmodelled += unmodelled_calls(node, profile.recording);
  }
  return row;
}

void add(Row& sum, const Row& row) {
  RowFigures& to = sum.figures;
  const RowFigures& from = row.figures;
  to.incremental_bytes += from.incremental_bytes;
  to.output_bytes += from.output_bytes;
  to.temp_bytes += from.temp_bytes;
  to.param_bytes += from.param_bytes;
  to.backward_bytes += from.backward_bytes;
  to.fwd_product_flops += from.fwd_product_flops;
  to.fwd_other_flops += from.fwd_other_flops;
  to.bwd_product_flops += from.bwd_product_flops;
  to.bwd_other_flops += from.bwd_other_flops;
  to.recompute_product_flops += from.recompute_product_flops;
  to.recompute_other_flops += from.recompute_other_flops;
  to.optimizer_flops += from.optimizer_flops;
  to.confidence = profile::least_certain(to.confidence, from.confidence);
  sum.calls += row.calls;
  sum.upper_bound |= row.upper_bound;
  sum.unmodelled += row.unmodelled;
}

bool comes_before(const Row& left, const Row& right, const RowOptions& options) {
  const Column column = *options.sort;
  switch (column) {
    case Column::op_type:
      return left.op_type < right.op_type;
    case Column::op:
      return left.op < right.op;
    case Column::module:
      return left.module < right.module;
    case Column::confidence:
      return profile::certainty(left.figures.confidence) <
             profile::certainty(right.figures.confidence);
    default:
      return figure(left, column, options.unit) > figure(right, column, options.unit);
  }
}

/// Keeps the first `top` rows; one row sums the others, so that nothing is lost.
void cut(std::vector<Row>& rows, std::size_t top) {
  if (rows.size() <= top) return;
  Row others{fmt::format("[{} others]", rows.size() - top)};
  for (std::size_t i = top; i < rows.size(); ++i) add(others, rows[i]);
  rows.resize(top);
  rows.push_back(std::move(others));
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

UnmodelledCalls unmodelled_calls(const NodeProfile& node, const Recording& recording) {
  UnmodelledCalls missing;
  for (const CallProfile& call : node.calls) {
    if (call.cost.confidence != Confidence::unmodelled) continue;
    const Phase phase = recording.calls[call.call].phase;
    ++(is_in_backward(phase)       ? missing.backward
       : phase == Phase::optimizer ? missing.optimizer
                                   : missing.forward);
  }
  return missing;
}

std::string text_of(const Row& row, Column column) {
  switch (column) {
    case Column::op_type:
      return row.op_type;
    case Column::op:
      return row.upper_bound ? "≤ " + row.op : row.op;
    case Column::module:
      return row.module;
    default:
      return std::string(name(row.figures.confidence));
  }
}

std::optional<std::int64_t> figure(const Row& row, Column column, Unit unit) {
  const RowFigures& figures = row.figures;
  const auto flops = [&](std::int64_t products, std::int64_t other) {
    return in_unit(products, unit) + other;
  };
  switch (column) {
    case Column::accumulate:
      return row.accumulate_bytes;
    case Column::incremental:
      return figures.incremental_bytes;
    case Column::output:
      return figures.output_bytes;
    case Column::temp:
      return figures.temp_bytes;
    case Column::param:
      return figures.param_bytes;
    case Column::backward:
      return figures.backward_bytes;
    case Column::fwd_flops:
      return flops(figures.fwd_product_flops, figures.fwd_other_flops);
    case Column::bwd_flops:
      return flops(figures.bwd_product_flops, figures.bwd_other_flops);
    case Column::recompute_flops:
      return flops(figures.recompute_product_flops, figures.recompute_other_flops);
    case Column::optimizer_flops:
      return figures.optimizer_flops;
    case Column::calls:
      return row.calls;
    default:
      return std::nullopt;
  }
}

std::int64_t unmodelled(const Row& row, Column column) {
  if (column == Column::fwd_flops) return row.unmodelled.forward;
  if (column == Column::optimizer_flops) return row.unmodelled.optimizer;
  return counts_flops(column) ? row.unmodelled.backward : 0;
}

std::vector<Row> rows_as_run(const Profile& profile, const RowOptions& options) {
  std::vector<Row> result;
  const profile::FoldOptions fold{fold_by(options.by), options.depth};
  for (const profile::FoldedRow& folded : profile::fold(profile, fold)) {
    Row row = row_of(folded, profile, options);
    const bool absent = row.calls == 0 && (folded.kind == "loss" || folded.kind == "optimizer");
    if (!absent) result.push_back(std::move(row));
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

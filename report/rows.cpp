#include "report/rows.h"

#include <fmt/format.h>

#include <algorithm>

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

/// The least certain comes last.
int rank(Confidence confidence) {
  switch (confidence) {
    case Confidence::free:
      return 0;
    case Confidence::exact:
      return 1;
    case Confidence::modelled:
      return 2;
    case Confidence::unmodelled:
      return 3;
  }
  return 3;
}

Row row_of(const NodeProfile& node, const Recording& recording) {
  const NodeRecord& record = recording.nodes[node.node];
  Row row{record.op, full_name(record), record.module};
  row.figures = node.figures;
  row.accumulate_bytes = node.accumulate_bytes;
  row.calls = static_cast<std::int64_t>(node.calls.size());
  row.unmodelled = unmodelled_calls(node, recording);
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
  if (rank(from.confidence) > rank(to.confidence)) to.confidence = from.confidence;
  sum.calls += row.calls;
  sum.unmodelled.forward += row.unmodelled.forward;
  sum.unmodelled.backward += row.unmodelled.backward;
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
      return rank(left.figures.confidence) > rank(right.figures.confidence);
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

}  // namespace

UnmodelledCalls unmodelled_calls(const NodeProfile& node, const Recording& recording) {
  UnmodelledCalls missing;
  for (const CallProfile& call : node.calls) {
    if (call.cost.confidence != Confidence::unmodelled) continue;
    const bool backward = recording.calls[call.call].phase == Phase::backward;
    ++(backward ? missing.backward : missing.forward);
  }
  return missing;
}

std::optional<std::int64_t> figure(const Row& row, Column column, Unit unit) {
  const RowFigures& figures = row.figures;
  const auto flops = [&](std::int64_t products, std::int64_t other) {
    return (unit == Unit::flops ? products : products / 2) + other;
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
    case Column::calls:
      return row.calls;
    default:
      return std::nullopt;
  }
}

std::int64_t unmodelled(const Row& row, Column column) {
  if (column == Column::fwd_flops) return row.unmodelled.forward;
  return column == Column::bwd_flops ? row.unmodelled.backward : 0;
}

std::vector<Row> rows(const Profile& profile, const RowOptions& options) {
  std::vector<Row> result;
  for (const NodeProfile& node : profile.nodes) result.push_back(row_of(node, profile.recording));
  if (options.sort)
    std::stable_sort(result.begin(), result.end(), [&](const Row& left, const Row& right) {
      return comes_before(left, right, options);
    });
  if (options.top) cut(result, static_cast<std::size_t>(*options.top));
  return result;
}

}  // namespace symprof::report

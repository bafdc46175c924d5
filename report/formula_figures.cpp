#include "report/formula_figures.h"

#include <fmt/format.h>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include "base/error.h"

namespace symprof::report {
namespace {

/// With everything that is no product.
constexpr std::int64_t all_in_unit(std::int64_t all, std::int64_t products, Unit unit) {
  return all - products + in_unit(products, unit);
}

constexpr TotalInfo all_totals[] = {
    {"param_count", "parameters", FigureUnit::count,
     [](const StepFigures& step, Unit) { return step.profile.totals.param_count; }},
    {"param_bytes", "their bytes", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.param_bytes; }},
    {"buffer_bytes", "buffers", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.buffer_bytes; }},
    {"input_bytes", "inputs", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.input_bytes; }},
    {"grad_bytes", "gradients", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.grad_bytes; }},
    {"optimizer_bytes", "optimizer states", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.optimizer_bytes; }},
    {"saved_bytes", "saved", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.saved_bytes; }},
    {"saved_bytes_with_inputs", "saved, with graph inputs", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.saved_bytes_with_inputs; }},
    {"peak_tensor_bytes", "peak of tensors", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.tensor_peak.bytes; }},
    {"peak_requested_bytes", "peak asked for", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.peak_requested_bytes; }},
    {"peak_allocated_bytes", "peak allocated", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.peak_allocated_bytes; }},
    {"peak_reserved_bytes", "peak reserved", FigureUnit::bytes,
     [](const StepFigures& step, Unit) { return step.profile.totals.peak_reserved_bytes; }},
    {"fwd_flops", "forward, products", FigureUnit::flops,
     [](const StepFigures& step, Unit unit) {
       return in_unit(step.profile.totals.fwd_flops, unit);
     }},
    {"fwd_flops_all", "forward, all", FigureUnit::flops,
     [](const StepFigures& step, Unit unit) {
       const Totals& totals = step.profile.totals;
       return all_in_unit(totals.fwd_flops_all, totals.fwd_flops, unit);
     }},
    {"bwd_flops", "backward, products", FigureUnit::flops,
     [](const StepFigures& step, Unit unit) {
       return in_unit(step.profile.totals.bwd_flops, unit);
     }},
    {"bwd_flops_all", "backward, all", FigureUnit::flops,
     [](const StepFigures& step, Unit unit) {
       const Totals& totals = step.profile.totals;
       return all_in_unit(totals.bwd_flops_all, totals.bwd_flops, unit);
     }},
    {"recompute_flops", "recomputed, products", FigureUnit::flops,
     [](const StepFigures& step, Unit unit) {
       return in_unit(step.profile.totals.recompute_flops, unit);
     }},
    {"recompute_flops_all", "recomputed, all", FigureUnit::flops,
     [](const StepFigures& step, Unit unit) {
       const Totals& totals = step.profile.totals;
       return all_in_unit(totals.recompute_flops_all, totals.recompute_flops, unit);
     }},
    {"optimizer_flops", "optimizer, all", FigureUnit::flops,
     [](const StepFigures& step, Unit) { return step.profile.totals.optimizer_flops; }},
};

void check_rows(const std::vector<Row>& rows, const std::vector<Row>& first) {
  const std::string advice =
      "What runs depends on this size (a loop, a branch): no formula can say that.";
  if (rows.size() != first.size())
    throw Error("--symbolic",
                fmt::format("the model has {} rows at one size and {} at another", first.size(),
                            rows.size()),
                advice);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].op != first[i].op || rows[i].op_type != first[i].op_type)
      throw Error(
          "--symbolic",
          fmt::format("row {} is {} at one size and {} at another", i, first[i].op, rows[i].op),
          advice);
}

}  // namespace

std::span<const TotalInfo> total_infos() { return all_totals; }

std::size_t index_of_total(std::string_view key) {
  std::size_t index = 0;
  while (all_totals[index].key != key) ++index;
  return index;
}

std::string key_of(const TotalInfo& total, Unit unit) {
  std::string key(total.key);
  const bool has_products = total.unit == FigureUnit::flops && key != "optimizer_flops";
  if (unit == Unit::macs && has_products) key.replace(key.find("flops"), 5, "macs");
  return key;
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

std::vector<std::int64_t> figures(const StepFigures& step, const FigureList& list) {
  const auto value_of = [&](const TotalInfo& total) {
    return total.value(step, list.options.unit);
  };
  auto result = all_totals | ranges::views::transform(value_of) | ranges::to<std::vector>();
  const std::vector<Row> as_run = rows_as_run(step.profile, list.options);
  check_rows(as_run, list.as_run);
  const std::vector<Row> rows = arrange(as_run, list.order, list.options);
  for (const FigureList::Cell& cell : list.cells)
    result.push_back(figure(rows[cell.row], cell.column, list.options.unit).value_or(0));
  return result;
}

}  // namespace symprof::report

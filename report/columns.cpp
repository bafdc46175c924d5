#include "report/columns.h"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

namespace symprof::report {
namespace {

constexpr ColumnInfo all[] = {
    {Column::op_type, "op_type", "Op type", "Op type", "op_type", "operator, or a module's class"},
    {Column::op, "op", "Op", "Op", "op", "the node's or module's name"},
    {Column::accumulate, "accumulate", "Accumulate size", "Accum. size", "accumulate_bytes",
     "saved for backward by this row and all before it"},
    {Column::incremental, "incremental", "Incremental size", "Incr. size", "incremental_bytes",
     "what this row adds to it"},
    {Column::output, "output", "Output size", "Output size", "output_bytes",
     "its outputs that are saved"},
    {Column::temp, "temp", "Temp size", "Temp size", "temp_bytes",
     "its outputs that nothing saves"},
    {Column::param, "param", "Param size", "Param size", "param_bytes", "parameters that it uses"},
    {Column::backward, "backward", "Backward size", "Backw. size", "backward_bytes",
     "gradients of its inputs"},
    {Column::fwd_flops, "fwd_flops", "Fwd FLOPs", "Fwd FLOPs", "fwd_flops",
     "FLOPs of the forward pass"},
    {Column::bwd_flops, "bwd_flops", "Bwd FLOPs", "Bwd FLOPs", "bwd_flops",
     "FLOPs of the backward pass, with those of recomputation"},
    {Column::module, "module", "Module", "Module", "module", "the module that made the call"},
    {Column::recompute_flops, "recompute_flops", "Recomp. FLOPs", "Rec. FLOPs", "recompute_flops",
     "FLOPs of the forward pass that backward computes again"},
    {Column::optimizer_flops, "optimizer_flops", "Optim. FLOPs", "Opt. FLOPs", "optimizer_flops",
     "FLOPs of the optimizer's step, with either --unit"},
    {Column::calls, "calls", "Calls", "Calls", "calls", "ATen calls, forward and backward"},
    {Column::confidence, "confidence", "Confidence", "Confidence", "confidence",
     "exact, modelled, free or unmodelled"},
};

// "Fwd FLOPs" to "Fwd MACs", "fwd_flops" to "fwd_macs". An optimizer's products are not counted
// apart, so its FLOPs stay FLOPs.
std::string in_unit(std::string_view text, Column column, Unit unit) {
  std::string result(text);
  const bool is_in_unit = counts_flops(column) && column != Column::optimizer_flops;
  if (!is_in_unit || unit == Unit::flops) return result;
  const std::size_t title = result.find("FLOPs");
  if (title != std::string::npos) return result.replace(title, 5, "MACs");
  return result.replace(result.find("flops"), 5, "macs");
}

}  // namespace

std::span<const ColumnInfo> columns() { return all; }

const ColumnInfo& info(Column column) { return all[static_cast<std::size_t>(column)]; }

std::vector<Column> default_columns(Optimizer optimizer) {
  auto result = all | ranges::views::transform(&ColumnInfo::column) |
                ranges::views::filter([](Column column) { return column < Column::module; }) |
                ranges::to<std::vector>();
  if (optimizer != Optimizer::none) result.push_back(Column::optimizer_flops);
  return result;
}

std::string_view name(Unit unit) { return unit == Unit::flops ? "FLOPs" : "MACs"; }

std::string title(Column column, Unit unit) { return in_unit(info(column).title, column, unit); }

std::string short_title(Column column, Unit unit) {
  return in_unit(info(column).short_title, column, unit);
}

std::string csv_name(Column column, Unit unit) {
  return in_unit(info(column).csv_name, column, unit);
}

}  // namespace symprof::report

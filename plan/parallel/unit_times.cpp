// The time of a unit of the model on one rank of a layout: computation, and the collectives that
// PyTorch's engines issue for it.
#include <algorithm>
#include <cmath>

#include "plan/parallel/step_model.h"

namespace symprof::plan {
namespace {

using profile::CollectiveKind;

constexpr double bucket_bytes = 25 << 20;  // torch/nn/parallel/distributed.py, bucket_cap_mb.

}  // namespace

StepModel::Group StepModel::tensor_group(const ParallelLayout& layout) const {
  return {layout.tensor, 1};
}

StepModel::Group StepModel::shard_group(const ParallelLayout& layout) const {
  const int span = layout.shard * layout.tensor;
  return {layout.shard, std::max(1, span / problem_.mesh.devices_per_node)};
}

StepModel::Group StepModel::copies_group(const ParallelLayout& layout) const {
  const int ranks = layout.data / layout.shard, span = layout.data * layout.tensor;
  return {ranks, std::min(ranks, std::max(1, span / problem_.mesh.devices_per_node))};
}

double StepModel::collective_us(CollectiveKind kind, double bytes, Group group) {
  if (group.ranks <= 1 || bytes <= 0) return 0;
  const profile::CollectiveWork work{kind, std::llround(bytes), group.ranks, group.nodes};
  const auto found = known_us_.find(work);
  if (found != known_us_.end()) return found->second;
  return known_us_.emplace(work, collectives_.time(work).us).first->second;
}

double StepModel::samples_of(const ParallelLayout& layout) const {
  return static_cast<double>(problem_.global_batch) / layout.data / layout.microbatches;
}

void StepModel::add_tensor_collectives(const ParallelLayout& layout, const UnitCosts& costs,
                                       UnitTimes& times) {
  const Group group = tensor_group(layout);
  const auto add = [&](CollectiveKind kind, const std::vector<double>& sizes, double& us) {
    for (const double bytes : sizes) us += collective_us(kind, bytes, group);
  };
  add(CollectiveKind::all_reduce, costs.forward_reduces, times.forward_tensor_us);
  add(CollectiveKind::all_gather, costs.forward_gathers, times.forward_tensor_us);
  add(CollectiveKind::reduce_scatter, costs.forward_scatters, times.forward_tensor_us);
  add(CollectiveKind::all_reduce, costs.backward_reduces, times.backward_tensor_us);
  add(CollectiveKind::reduce_scatter, costs.forward_gathers, times.backward_tensor_us);
  add(CollectiveKind::all_gather, costs.forward_scatters, times.backward_tensor_us);
}

/// Returns the collectives' time in one forward pass.
double StepModel::add_expert_collectives(const ParallelLayout& layout, const UnitCosts& costs,
                                         UnitTimes& times) {
  // The experts are shared by all ranks that see different samples.
  const int span = layout.data * layout.tensor;
  const Group group{layout.expert, std::max(1, span / problem_.mesh.devices_per_node)};
  double rows = 0, counts = 0;
  for (const double bytes : costs.row_exchanges)
    rows += collective_us(CollectiveKind::all_to_all, bytes, group);
  for (const double bytes : costs.count_exchanges)
    counts += collective_us(CollectiveKind::all_to_all, bytes, group);
  times.forward_tensor_us += rows + counts;
  times.backward_tensor_us += rows;
  return rows + counts;
}

void StepModel::add_data_collectives(const ParallelLayout& layout, UnitTimes& times) {
  const double gradients =
      times.held_bytes * costs_.gradient_bytes() / std::max(costs_.parameter_bytes(), 1.0);
  if (layout.shard > 1) {
    times.gather_us =
        collective_us(CollectiveKind::all_gather, times.held_bytes, shard_group(layout));
    times.reduce_us = collective_us(CollectiveKind::reduce_scatter, gradients, shard_group(layout));
  }
  const double copied = gradients / layout.shard;
  const Group copies = copies_group(layout);
  if (copies.ranks <= 1 || copied <= 0) return;
  // DDP's buckets do not end at unit boundaries.
  const bool has_buckets = layout.shard == 1 && layout.tensor == 1;
  const double one = has_buckets ? std::min(bucket_bytes, costs_.gradient_bytes()) : copied;
  times.reduce_us += copied / one * collective_us(CollectiveKind::all_reduce, one, copies);
}

UnitTimes StepModel::unit_times(const ParallelLayout& layout, std::size_t unit) {
  const Unit& described = costs_.units()[unit];
  const UnitCosts& costs = costs_.costs(unit, share_of(layout));
  UnitTimes times{.forward_us = costs.forward_us, .backward_us = costs.backward_us};
  times.held_bytes = costs_.held_bytes(unit, share_of(layout));
  times.expert_bytes = costs_.expert_bytes(unit, share_of(layout));
  times.boundary_bytes = costs.boundary_bytes;
  times.whole_set_bytes = times.saved_bytes = costs.saved_bytes;
  add_tensor_collectives(layout, costs, times);
  const double exchange = add_expert_collectives(layout, costs, times);
  add_data_collectives(layout, times);
  const bool is_checkpointed =
      !described.name.empty() && static_cast<int>(unit) <= layout.checkpointed;
  if (is_checkpointed) {
    // Without the last reduction, see layout_collectives.cpp; the calls behind it take little time.
    const double rows = std::max<double>(
        static_cast<double>(costs.forward_reduces.size() + costs.forward_scatters.size()), 1);
    const double last = (times.forward_tensor_us - exchange) / rows / (layout.sequence ? 2 : 1);
    times.again_us = times.forward_us + times.forward_tensor_us - last;
    times.saved_bytes = times.boundary_bytes;
  }
  return times;
}

std::vector<UnitTimes> StepModel::times_of(const ParallelLayout& layout) {
  std::vector<UnitTimes> times;
  times.reserve(costs_.units().size());
  for (std::size_t i = 0; i < costs_.units().size(); ++i) times.push_back(unit_times(layout, i));
  return times;
}

}  // namespace symprof::plan

#include "plan/parallel/step_model.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "profile/step_queues.h"

namespace symprof::plan {
namespace {

using Units = std::vector<UnitTimes>;

double sum_of(const Units& units, double UnitTimes::*member) {
  return std::accumulate(units.begin(), units.end(), 0.0,
                         [&](double sum, const UnitTimes& unit) { return sum + unit.*member; });
}

/// A step of one rank without a pipeline: forward and backward of each microbatch through all
/// units. FSDP2 gathers a unit's parameters while the previous unit runs, and again in backward;
/// the first and the last unit are its root group, which stays gathered.
class ChainRun {
 public:
  ChainRun(const Units& units, const ParallelLayout& layout) : units_(units), layout_(layout) {}

  profile::DeviceQueues run() {
    for (int i = 0; i < layout_.microbatches; ++i) {
      forward();
      backward(i + 1 == layout_.microbatches);
    }
    queues_.wait_until(queues_.communicated_us());
    return queues_;
  }

 private:
  bool shards() const { return layout_.shard > 1; }
  bool is_root(std::size_t unit) const { return unit == 0 || unit + 1 == units_.size(); }

  double gather(std::size_t unit, double ready_us) {
    if (!shards() || is_root(unit)) return 0;
    return queues_.communicate(units_[unit].gather_us, ready_us).end_us;
  }

  void forward() {
    if (shards()) queues_.communicate_and_wait(units_.front().gather_us + units_.back().gather_us);
    double there = gather(1, queues_.computed_us());
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const double needed = is_root(i) ? 0 : there;
      queues_.wait_until(needed);
      if (i > 0 && i + 1 < units_.size()) there = gather(i + 1, queues_.computed_us());
      queues_.compute(units_[i].forward_us);
      queues_.communicate_and_wait(units_[i].forward_tensor_us);
    }
  }

  void backward(bool is_last) {
    double there = 0;
    for (std::size_t i = units_.size(); i-- > 0;) {
      queues_.wait_until(is_root(i) ? 0 : there);
      if (i > 0) there = gather(i - 1, queues_.computed_us());
      queues_.compute(units_[i].backward_us + units_[i].again_us);
      queues_.communicate_and_wait(units_[i].backward_tensor_us);
      // DDP accumulates the microbatches' gradients and reduces once; FSDP2 reduces every time.
      if (shards() || is_last) queues_.communicate(units_[i].reduce_us, queues_.computed_us());
    }
  }

  const Units& units_;
  const ParallelLayout& layout_;
  profile::DeviceQueues queues_;
};

/// The units of one stage joined into one.
UnitTimes joined(const Units& units, std::size_t first, std::size_t last) {
  UnitTimes all;
  for (std::size_t i = first; i < last; ++i) {
    for (double UnitTimes::*member :
         {&UnitTimes::forward_us, &UnitTimes::backward_us, &UnitTimes::again_us,
          &UnitTimes::forward_tensor_us, &UnitTimes::backward_tensor_us, &UnitTimes::gather_us,
          &UnitTimes::reduce_us, &UnitTimes::held_bytes, &UnitTimes::expert_bytes,
          &UnitTimes::saved_bytes})
      all.*member += units[i].*member;
    all.boundary_bytes = units[i].boundary_bytes;
    all.whole_set_bytes = std::max(all.whole_set_bytes, units[i].whole_set_bytes);
  }
  return all;
}

}  // namespace

std::vector<std::size_t> balanced_stages(const std::vector<double>& us, std::size_t stages) {
  const std::size_t units = us.size();
  std::vector<double> before(units + 1, 0);
  std::partial_sum(us.begin(), us.end(), before.begin() + 1);
  // least[s][i]: the time of the slowest of s + 1 stages over the first i units; from[s][i]: where
  // the last stage begins.
  std::vector least(stages, std::vector<double>(units + 1, std::numeric_limits<double>::max()));
  std::vector from(stages, std::vector<std::size_t>(units + 1, 0));
  least[0] = before;
  for (std::size_t s = 1; s < stages; ++s)
    for (std::size_t i = s + 1; i <= units; ++i)
      for (std::size_t j = s; j < i; ++j) {
        const double slowest = std::max(least[s - 1][j], before[i] - before[j]);
        if (slowest < least[s][i]) least[s][i] = slowest, from[s][i] = j;
      }
  std::vector<std::size_t> ends(stages, units);
  for (std::size_t s = stages; s-- > 1;) ends[s - 1] = from[s][ends[s]];
  return ends;
}

void StepModel::run_chain(const std::vector<UnitTimes>& units, LayoutResult& result) const {
  const profile::DeviceQueues queues = ChainRun(units, result.layout).run();
  const double update = update_us(result.layout, units);
  result.exposed_us = queues.exposed_us();
  result.communication_us = queues.communication_us();
  result.step_us = queues.end_us() + update;
  result.compute_us = result.step_us - result.exposed_us;
  result.memory = memory_of(result.layout, units, 1);
}

/// Units by stage; the first and the last unit join the blocks beside them.
std::vector<UnitTimes> StepModel::stages_of(const std::vector<UnitTimes>& units,
                                            LayoutResult& result) {
  std::vector<double> us;
  us.reserve(units.size());
  for (const UnitTimes& unit : units)
    us.push_back(unit.forward_us + unit.backward_us + unit.again_us + unit.forward_tensor_us +
                 unit.backward_tensor_us);
  us[1] += us.front();
  us[us.size() - 2] += us.back();
  const std::vector<double> of_blocks(us.begin() + 1, us.end() - 1);
  const auto count = static_cast<std::size_t>(result.layout.pipeline_schedule().stages());
  result.stage_ends = balanced_stages(of_blocks, count);
  Units stages;
  stages.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i == 0 ? 0 : result.stage_ends[i - 1] + 1;
    const std::size_t last = i + 1 == count ? units.size() : result.stage_ends[i] + 1;
    stages.push_back(joined(units, first, last));
  }
  if (!result.layout.sequence) return stages;
  for (UnitTimes& stage : stages) {  // Ends of sequences, as in layout_collectives.cpp.
    stage.boundary_bytes *= result.layout.tensor;
    const double us = collective_us(profile::CollectiveKind::all_gather, stage.boundary_bytes,
                                    tensor_group(result.layout));
    stage.forward_tensor_us += us, stage.backward_tensor_us += us;
  }
  return stages;
}

StageTimes StepModel::stage_times(const std::vector<UnitTimes>& stages,
                                  const ParallelLayout& layout) {
  StageTimes times;
  double boundary = 0;
  for (const UnitTimes& stage : stages) {
    const double backward = stage.backward_us + stage.backward_tensor_us;
    times.forward.push_back(stage.forward_us + stage.forward_tensor_us);
    times.backward_input.push_back(stage.again_us + backward / 2);
    times.backward_weight.push_back(backward / 2);
    boundary = std::max(boundary, stage.boundary_bytes);
  }
  const int devices = layout.devices();
  const bool leaves_node = devices > problem_.mesh.devices_per_node;
  times.transfer =
      collective_us(profile::CollectiveKind::send_receive, boundary, {2, leaves_node ? 2 : 1});
  return times;
}

/// Adds one rank of a pipeline to the result. Parameters are gathered once and gradients reduced
/// once, overlapping the first and the last microbatch; the first gather and the last reduction
/// cannot be hidden. Returns the time in addition to the pipeline's own.
double StepModel::add_rank(const std::vector<UnitTimes>& own, double in_flight, double transfer_us,
                           LayoutResult& result) const {
  const ParallelLayout& layout = result.layout;
  const double microbatches = layout.microbatches;
  const double forward = sum_of(own, &UnitTimes::forward_us);
  const double backward = sum_of(own, &UnitTimes::backward_us) + sum_of(own, &UnitTimes::again_us);
  const double gather = sum_of(own, &UnitTimes::gather_us);
  const double reduce = sum_of(own, &UnitTimes::reduce_us);
  const double blocks = static_cast<double>(costs_.units().size() - 2);
  const double share = std::min(layout.pipeline_schedule().stages() / blocks, 1.0);
  const double outside =
      std::max(gather * share, gather - forward) + std::max(reduce * share, reduce - backward);
  const double tensor = microbatches * (sum_of(own, &UnitTimes::forward_tensor_us) +
                                        sum_of(own, &UnitTimes::backward_tensor_us));
  const double update = update_us(layout, own);
  const double hops = 2.0 * microbatches * layout.stages_per_rank;
  const auto keep_most = [](double& most, double value) { most = std::max(most, value); };
  keep_most(result.exposed_us, outside + tensor);
  keep_most(result.communication_us, gather + reduce + tensor + hops * transfer_us);
  keep_most(result.compute_us, microbatches * (forward + backward) + update);
  const LayoutMemory memory = memory_of(layout, own, in_flight / layout.stages_per_rank);
  if (memory.peak_bytes > result.memory.peak_bytes) result.memory = memory;
  return outside + update;
}

void StepModel::run_stages(const std::vector<UnitTimes>& units, LayoutResult& result) {
  const Pipeline pipeline = result.layout.pipeline_schedule();
  const std::vector<UnitTimes> stages = stages_of(units, result);
  const StageTimes times = stage_times(stages, result.layout);
  const PipelineRun run = run_pipeline(pipeline, actions_of(pipeline), times);
  result.bubble = run.bubble();
  double after = 0;
  for (int rank = 0; rank < pipeline.ranks; ++rank) {
    Units own;
    for (int stage = 0; stage < pipeline.stages(); ++stage)
      if (pipeline.rank_of(stage) == rank) own.push_back(stages[static_cast<std::size_t>(stage)]);
    // Gradients that wait for the weights' backward are assumed as large as saved tensors.
    const double in_flight =
        run.in_flight[static_cast<std::size_t>(rank)] + run.waiting[static_cast<std::size_t>(rank)];
    after = std::max(after, add_rank(own, in_flight, times.transfer, result));
  }
  result.step_us = run.makespan + after;
}

double StepModel::update_us(const ParallelLayout& layout,
                            const std::vector<UnitTimes>& units) const {
  const double held = sum_of(units, &UnitTimes::held_bytes) / layout.shard +
                      sum_of(units, &UnitTimes::expert_bytes);
  return costs_.optimizer_us() * held / std::max(costs_.parameter_bytes(), 1.0);
}

LayoutMemory StepModel::memory_of(const ParallelLayout& layout, const std::vector<UnitTimes>& units,
                                  double in_flight) const {
  const double whole = std::max(costs_.parameter_bytes(), 1.0);
  const double held = sum_of(units, &UnitTimes::held_bytes);
  double largest = 0, largest_set = 0, largest_experts = 0;
  for (const UnitTimes& unit : units) {
    largest = std::max(largest, unit.held_bytes);
    largest_experts = std::max(largest_experts, unit.expert_bytes);
    largest_set = std::max(largest_set, unit.whole_set_bytes);
  }
  LayoutMemory memory;
  memory.parameters = held / layout.shard + sum_of(units, &UnitTimes::expert_bytes);
  memory.gradients = memory.parameters * costs_.gradient_bytes() / whole;
  memory.optimizer = memory.parameters * costs_.state_bytes() / whole;
  memory.activations = in_flight * sum_of(units, &UnitTimes::saved_bytes);
  const bool runs_again = layout.checkpointed > 0;
  const double samples = samples_of(layout) / costs_.samples();
  // Gradients of experts are divided out of place.
  memory.temporaries = costs_.temporary_bytes() * samples + (runs_again ? largest_set : 0) +
                       largest_experts * costs_.gradient_bytes() / whole;
  if (layout.shard > 1 && layout.pipeline == 1)
    // The root's parameters; then the parameters of two blocks, the next gather's output,
    // gradients, and the inputs of two reductions
    // (torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py).
    memory.buffers = units.front().held_bytes + units.back().held_bytes + 5 * largest;
  else if (layout.shard > 1)
    memory.buffers = held * (1 + costs_.gradient_bytes() / whole);
  if (layout.pipeline > 1)
    memory.buffers += 2.0 * layout.microbatches * units.back().boundary_bytes;
  const double lasting = memory.parameters + memory.gradients + memory.optimizer;
  const double update = costs_.optimizer_temporary_bytes() * memory.parameters / whole;
  const double passes = memory.buffers + memory.activations + memory.temporaries;
  memory.peak_bytes = (lasting + std::max(passes, update)) * costs_.fragmentation();
  return memory;
}

LayoutResult StepModel::result_of(const ParallelLayout& layout) {
  LayoutResult result{.layout = layout};
  const std::vector<UnitTimes> units = times_of(layout);
  if (layout.pipeline > 1)
    run_stages(units, result);
  else
    run_chain(units, result);
  for (int rank = 0; rank < layout.pipeline; ++rank) {
    LayoutResult other;
    other.collectives = collectives_of(result, rank);
    if (rank == 0 || other.comm_bytes() > result.comm_bytes())
      result.collectives = std::move(other.collectives);
  }
  result.fits = result.memory.peak_bytes <= static_cast<double>(problem_.available_bytes);
  return result;
}

LayoutResult StepModel::evaluate(ParallelLayout layout, std::optional<int> checkpointed) {
  const int blocks = static_cast<int>(costs_.units().size()) - 2;
  if (checkpointed) {
    layout.checkpointed = std::min(*checkpointed, blocks);
    return result_of(layout);
  }
  layout.checkpointed = 0;
  LayoutResult none = result_of(layout);
  if (none.fits || blocks == 0 || !layout.can_checkpoint()) return none;
  layout.checkpointed = blocks;
  LayoutResult best = result_of(layout);
  if (!best.fits || layout.pipeline > 1) return best;
  int too_few = 0;
  while (best.layout.checkpointed - too_few > 1) {
    layout.checkpointed = (too_few + best.layout.checkpointed) / 2;
    LayoutResult tried = result_of(layout);
    if (tried.fits)
      best = std::move(tried);
    else
      too_few = layout.checkpointed;
  }
  return best;
}

}  // namespace symprof::plan

#include "plan/parallel/planner.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"

namespace symprof::plan {
namespace {

std::vector<int> divisors(int number) {
  std::vector<int> found;
  for (int i = 1; i <= number; ++i)
    if (number % i == 0) found.push_back(i);
  return found;
}

/// Enumerates the layouts with given degrees.
class Enumerator {
 public:
  Enumerator(const ModelCosts& costs, const ParallelProblem& problem)
      : blocks_(static_cast<int>(costs.units().size()) - 2), costs_(costs), problem_(problem) {}

  std::vector<ParallelLayout> all() {
    const Mesh& mesh = problem_.mesh;
    for (const int tensor : divisors(mesh.devices_per_node)) {
      if (!costs_.split().allows(tensor) && !costs_.has_placements(tensor, false) &&
          !costs_.has_placements(tensor, true))
        continue;
      for (const int pipeline : divisors(mesh.devices() / tensor)) {
        const int data = mesh.devices() / tensor / pipeline;
        if (pipeline > blocks_ || problem_.global_batch % data != 0) continue;
        add_modes({.pipeline = pipeline, .data = data, .tensor = tensor});
      }
    }
    return std::move(found_);
  }

 private:
  void add_modes(ParallelLayout layout) {
    add_sequence(layout);
    if (layout.data == 1) return;
    layout.mode = DataMode::shards, layout.shard = layout.data;
    add_sequence(layout);
    const int in_node = problem_.mesh.devices_per_node / layout.tensor;
    if (in_node > 1 && in_node < layout.data && layout.data % in_node == 0) {
      layout.mode = DataMode::hybrid, layout.shard = in_node;
      add_sequence(layout);
    }
  }

  /// Experts are distributed over all data-parallel ranks, each with its own samples.
  void add_experts(ParallelLayout layout) {
    const bool is_plain = layout.pipeline == 1 && layout.mode != DataMode::hybrid;
    if (!is_plain || layout.data == 1 || !costs_.can_spread_experts(layout.data)) return;
    layout.expert = layout.data;
    add_microbatches(layout);
  }

  void add_sequence(ParallelLayout layout) {
    if (layout.tensor == 1) {
      add_microbatches(layout);
      return add_experts(layout);
    }
    for (const bool sequence : {false, true}) {
      layout.sequence = sequence, layout.by_node = false;
      if (costs_.split().allows(layout.tensor)) add_microbatches(layout);
      layout.by_node = true;
      if (costs_.has_placements(layout.tensor, sequence)) add_microbatches(layout);
    }
  }

  /// Divisors of a data rank's batch; a pipeline needs at least one microbatch per rank.
  void add_microbatches(ParallelLayout layout) {
    const auto samples =
        static_cast<int>(std::min<std::int64_t>(problem_.global_batch / layout.data, most_samples));
    for (const int microbatches : divisors(samples)) {
      layout.microbatches = microbatches;
      if (layout.pipeline == 1) {
        found_.push_back(layout);
      } else if (microbatches >= layout.pipeline) {
        found_.push_back(layout);
        add_several_stages(layout);
      }
    }
  }

  void add_several_stages(ParallelLayout layout) {
    const int rounds = std::max(1, layout.microbatches / layout.pipeline);
    if (2 * layout.pipeline > blocks_ || layout.microbatches % rounds != 0) return;
    layout.schedule = PipelineKind::interleaved, layout.stages_per_rank = 2;
    found_.push_back(layout);
    // stage_backward_weight (torch/distributed/pipelining/_backward.py) does not run the gradient
    // hooks with which DistributedDataParallel reduces.
    if (layout.data > 1 && layout.mode == DataMode::copies) return;
    layout.schedule = PipelineKind::interleaved_zero_bubble;
    found_.push_back(layout);
  }

  static constexpr std::int64_t most_samples = 4096;
  int blocks_;
  const ModelCosts& costs_;
  const ParallelProblem& problem_;
  std::vector<ParallelLayout> found_;
};

/// Estimates that differ by less count as equal; fewer microbatches and checkpoints are preferred.
constexpr double equal_share = 0.995;

bool is_better(const LayoutResult& a, const LayoutResult& b) {
  if (a.fits != b.fits) return a.fits;
  if (!a.fits) return a.memory.peak_bytes < b.memory.peak_bytes;
  return a.step_us < b.step_us;
}

bool is_clearly_better(const LayoutResult& a, const LayoutResult& b) {
  const bool both_fit = a.fits && b.fits;
  return both_fit ? a.step_us < b.step_us * equal_share : is_better(a, b);
}

/// The key of a table row: layouts with the same key are alternatives within it.
auto way_of(const ParallelLayout& layout) {
  return std::tuple(layout.mode, layout.data, layout.shard, layout.tensor, layout.pipeline,
                    layout.sequence, layout.expert, layout.by_node,
                    row_of(layout.schedule).splits_backward);
}

/// Placements inside blocks for each tensor-parallel group, with all samples of a rank at once.
void find_placements(ModelCosts& costs, StepModel& model, const ParallelProblem& problem,
                     const LayoutFilter& wanted) {
  for (const int tensor : divisors(problem.mesh.devices_per_node)) {
    if (tensor == 1 || (wanted.tensor && *wanted.tensor != tensor)) continue;
    const double samples =
        static_cast<double>(problem.global_batch) * tensor / problem.mesh.devices();
    for (const bool sequence : {false, true})
      costs.find_placements({std::max(samples, 1.0), tensor, sequence},
                            [&](profile::CollectiveKind kind, double bytes) {
                              return model.tensor_us(kind, bytes, tensor);
                            });
  }
}

LayoutAlternative compared(const LayoutResult& result, const std::optional<LayoutResult>& best,
                           double available_bytes) {
  LayoutAlternative line{.result = result};
  if (!result.fits) {
    line.why = WhyNot::does_not_fit;
    line.needs = result.memory.peak_bytes - available_bytes;
    line.would_win = best && result.step_us < best->step_us;
    return line;
  }
  const double lead = result.step_us - best->step_us;
  if (lead <= 0) return line;
  const double idle = result.step_us * result.bubble;
  const bool is_idle = idle > result.exposed_us;
  const double loss = is_idle ? idle : result.exposed_us;
  line.would_win = loss > lead;
  line.needs = loss > 0 ? lead / loss : 0;
  line.why = !line.would_win ? WhyNot::computes_longer
             : is_idle       ? WhyNot::is_idle
                             : WhyNot::waits_for_links;
  return line;
}

}  // namespace

std::vector<ParallelLayout> layouts_of(const ModelCosts& costs, const ParallelProblem& problem) {
  return Enumerator(costs, problem).all();
}

ParallelPlan plan_parallel(ModelCosts& costs, const profile::CollectiveModel& collectives,
                           const ParallelProblem& problem, const LayoutFilter& wanted) {
  StepModel model(costs, collectives, problem);
  find_placements(costs, model, problem, wanted);
  std::vector<ParallelLayout> layouts = layouts_of(costs, problem);
  std::erase_if(layouts, [&](const ParallelLayout& layout) { return !wanted.allows(layout); });
  if (layouts.empty())
    throw Error(SettingRef{"global_batch"},
                "no way to spread " + std::to_string(problem.global_batch) + " samples over " +
                    std::to_string(problem.mesh.devices()) + " devices",
                "Give a batch that the number of devices divides, or another layout.");
  std::map<decltype(way_of(ParallelLayout())), LayoutResult> ways;
  ParallelPlan plan;
  plan.evaluated = layouts.size();
  for (const ParallelLayout& layout : layouts) {
    const LayoutResult result = model.evaluate(layout, wanted.checkpointed);
    const auto [known, is_new] = ways.try_emplace(way_of(layout), result);
    if (!is_new && is_clearly_better(result, known->second)) known->second = result;
  }
  for (const auto& [way, result] : ways)
    if (result.fits && (!plan.best || result.step_us < plan.best->step_us)) plan.best = result;
  plan.alternatives.reserve(ways.size());
  for (const auto& [way, result] : ways)
    plan.alternatives.push_back(
        compared(result, plan.best, static_cast<double>(problem.available_bytes)));
  std::ranges::sort(plan.alternatives,
                    [](const auto& a, const auto& b) { return is_better(a.result, b.result); });
  return plan;
}

}  // namespace symprof::plan

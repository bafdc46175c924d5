#include "profile/pipeline_time.h"

#include <algorithm>

#include "profile/step_time.h"

namespace symprof::profile {

RankPasses passes_of(const std::vector<StagePass>& passes, const StepLoad& load) {
  const auto end_us = [&](CallId call) {
    return call < 0 ? 0 : load.schedule[static_cast<std::size_t>(call)].end_us;
  };
  RankPasses result;
  std::map<int, int> forwards, backwards;
  double all_us = 0;
  for (const StagePass& pass : passes) {
    const double us = end_us(pass.last) - end_us(pass.first - 1);
    RankPasses::OfStage& stage = result.stages[pass.stage];
    (pass.is_backward ? stage.backward_us : stage.forward_us) += us;
    ++(pass.is_backward ? backwards : forwards)[pass.stage];
    all_us += us;
  }
  for (auto& [number, stage] : result.stages) {
    stage.forward_us /= std::max(forwards[number], 1);
    stage.backward_us /= std::max(backwards[number], 1);
  }
  result.rest_us = std::max(load.step_us - all_us, 0.0);
  return result;
}

PipelineTime pipeline_time(const Pipeline& pipeline, std::span<const RankPasses> ranks,
                           int own_rank, double transfer_us) {
  StageTimes times{.transfer = transfer_us};
  for (int stage = 0; stage < pipeline.stages(); ++stage) {
    const RankPasses& rank = ranks[static_cast<std::size_t>(pipeline.rank_of(stage))];
    const RankPasses::OfStage& own = rank.stages.at(stage);
    times.forward.push_back(own.forward_us);
    times.backward_input.push_back(own.backward_us / 2);
    times.backward_weight.push_back(own.backward_us / 2);
  }
  const PipelineRun run = run_pipeline(pipeline, actions_of(pipeline), times);
  return {.makespan_us = run.makespan,
          .bubble = run.bubble(),
          .idle_us = run.idle[static_cast<std::size_t>(own_rank)],
          .transfer_us = transfer_us};
}

}  // namespace symprof::profile

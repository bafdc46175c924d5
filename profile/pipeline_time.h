// The step time of a pipeline: the passes of each rank, run in the order of the schedule.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "profile/parallel/schedules.h"
#include "profile/step_time.h"
#include "record/rank.h"

namespace symprof::profile {

/// A rank's step without waiting for others. Microseconds, means over the microbatches.
struct RankPasses {
  struct OfStage {
    double forward_us = 0, backward_us = 0;
  };
  std::map<int, OfStage> stages;  ///< Stages of the rank.
  double rest_us = 0;             ///< Outside of all passes: reductions, the update.
};

/// `load`: the step with `passes`, with all collectives except messages between stages.
RankPasses passes_of(const std::vector<StagePass>& passes, const StepLoad& load);

/// `ranks` by rank; the idle time in the result is that of `own_rank`. Throws Error as actions_of
/// does.
PipelineTime pipeline_time(const Pipeline& pipeline, std::span<const RankPasses> ranks,
                           int own_rank, double transfer_us);

}  // namespace symprof::profile

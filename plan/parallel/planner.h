// The layout of least time whose fullest rank fits, of all that a mesh allows: data parallelism by
// copies or shards, tensor and sequence parallelism within a node, pipelines, microbatches, and
// checkpointed blocks under each.
//
// Public header.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/parallel/step_model.h"

namespace symprof::plan {

/// Why an alternative is not the plan.
enum class WhyNot : std::uint8_t {
  is_chosen,
  does_not_fit,
  waits_for_links,  ///< It would win if less of its communication were exposed.
  is_idle,          ///< It would win without the bubble of its pipeline.
  computes_longer,  ///< Its computation alone takes longer.
};

struct LayoutAlternative {
  LayoutResult result;
  WhyNot why = WhyNot::is_chosen;
  /// What it would need to win: bytes more of each device (does_not_fit), or the share of its
  /// exposed communication, or of its bubble, that would have to go, from 0 to 1.
  double needs = 0;
  /// With that it would win; false: it would not, or nothing is chosen to compare with.
  bool would_win = false;
};

struct ParallelPlan {
  std::optional<LayoutResult> best;  ///< Empty: no layout fits.
  /// The best of each way to spread the step (data mode and degrees), by time, those that fit
  /// first.
  std::vector<LayoutAlternative> alternatives;
  std::size_t evaluated = 0;
};

/// All layouts that `problem` allows and the model can be split by, not yet evaluated.
std::vector<ParallelLayout> layouts_of(const ModelCosts& costs, const ParallelProblem& problem);

/// Throws Error where no layout that `wanted` allows divides the devices and the batch.
ParallelPlan plan_parallel(ModelCosts& costs, const profile::CollectiveModel& collectives,
                           const ParallelProblem& problem, const LayoutFilter& wanted = {});

}  // namespace symprof::plan

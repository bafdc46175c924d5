// The fastest layout whose fullest rank fits, among all that a mesh allows: replicated or sharded
// data parallelism, tensor and sequence parallelism within a node, pipelines, microbatches, and
// checkpointed blocks with each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/parallel/step_model.h"

namespace symprof::plan {

/// Why an alternative was not chosen.
enum class WhyNot : std::uint8_t {
  is_chosen,
  does_not_fit,
  waits_for_links,  ///< It would win with less exposed communication.
  is_idle,          ///< It would win without its pipeline bubble.
  computes_longer,  ///< Its computation alone takes longer.
};

struct LayoutAlternative {
  LayoutResult result;
  WhyNot why = WhyNot::is_chosen;
  /// How far the strategy is from being chosen: the missing bytes per device (does_not_fit), or the
  /// share of its exposed communication or of its bubble that would have to disappear, from 0 to 1.
  double needs = 0;
  /// True if it would win with that; false if not, or if no layout is chosen.
  bool would_win = false;
};

struct ParallelPlan {
  std::optional<LayoutResult> best;  ///< Empty: no layout fits.
  /// The best layout of each kind (data mode and degrees), by time, those that fit first.
  std::vector<LayoutAlternative> alternatives;
  std::size_t evaluated = 0;
};

/// All layouts that `problem` and the model's divisibility allow, not yet evaluated.
std::vector<ParallelLayout> layouts_of(const ModelCosts& costs, const ParallelProblem& problem);

/// Throws Error where no layout that `wanted` allows divides the devices and the batch.
ParallelPlan plan_parallel(ModelCosts& costs, const profile::CollectiveModel& collectives,
                           const ParallelProblem& problem, const LayoutFilter& wanted = {});

}  // namespace symprof::plan

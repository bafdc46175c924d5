// What a search for checkpoint plans finds: plain data (plan/checkpoint/planner.h finds it).
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/checkpoint_plan.h"
#include "record/ids.h"

namespace symprof::plan {

constexpr std::int64_t largest_small_bytes = std::int64_t{1} << 20;

/// Device memory of a step with a plan.
struct StepPeaks {
  std::int64_t allocated_bytes = 0;
  /// The bytes that have to fit the budget.
  std::int64_t reserved_bytes = 0;
  /// The part of it in segments that only blocks of up to `largest_small_bytes` can use.
  std::int64_t small_segments_bytes = 0;
};

/// A simulated plan and its results.
struct SimulatedPlan {
  CheckpointPlan plan;
  /// The time of all recomputed calls, of copies to the host and back, and of waiting for the host.
  double cost_us = 0;
  std::int64_t recompute_flops = 0;
  StepPeaks peaks;
  std::int64_t offloaded_bytes = 0;  ///< In host memory until backward.
  /// Blocks that the loop allocates, and frees again, before the model is created (ReservedStep).
  std::vector<std::int64_t> up_front_bytes;
  bool warm_start = false;  ///< The loop has to warm up (ReservedStep).

  /// The smallest budget that it is known to fit.
  std::int64_t budget_bytes() const { return peaks.reserved_bytes; }
  /// The sum of `up_front_bytes`.
  std::int64_t up_front_sum_bytes() const {
    return std::accumulate(up_front_bytes.begin(), up_front_bytes.end(), std::int64_t{0});
  }
};

struct PlanAnswer {
  std::int64_t budget_bytes = 0;
  /// The simulated plan of least time within the budget.
  std::optional<SimulatedPlan> best;
  /// A lower bound of the cost of every plan within the budget that recomputes the planner's
  /// regions one by one. Plans that join regions may cost less. Empty: unknown.
  std::optional<double> least_cost_us;
  /// True if it is proved that no plan fits: the budget is below the bytes of
  /// CheckpointPlanner::least_window().
  bool is_impossible = false;
};

/// The peak of the plain step over the calls at which only the first `regions` regions can have
/// freed something.
struct Window {
  std::size_t regions = 0;
  std::int64_t bytes = 0;
  CallId call = none;  ///< The call of that peak.
  /// The part of `bytes` that the other pool reserves there for its own peak at another moment,
  /// whatever is recomputed: small blocks if this is about large ones, and the reverse.
  std::int64_t other_pool_bytes = 0;
};

/// By operator: the number of its calls in one run. Several numbers where runs of a module differ.
using CallNumbers = std::map<std::string, std::set<int>>;

/// Another published way to save activation memory, as a plan of the same regions.
struct AlternativePlan {
  std::string name;
  std::optional<SimulatedPlan> simulated;  ///< Empty: the method gives no plan here.
  std::string note;  ///< Why there is no plan, or what the plan omits. May refer to settings.
};

}  // namespace symprof::plan

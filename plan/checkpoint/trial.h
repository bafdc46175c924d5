// The interface that tries a checkpoint plan: records the step with it, and measures the recording.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "plan/checkpoint/answers.h"
#include "profile/memory/segment_weights.h"
#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::plan {

/// A step whose loop allocates large blocks and frees them before the model is created: blocks
/// larger than `largest_small_bytes` are then placed in their segments. With a warm start, blocks
/// that live until the loop ends are placed before all temporary ones (LoopOptions::warm_start).
struct ReservedStep {
  std::vector<std::int64_t> up_front_bytes;  ///< The blocks' sizes; empty: none.
  StepPeaks peaks;
  bool warm_start = false;
};

/// The peaks while a call runs, each at its own moment: of blocks of up to `largest_small_bytes`,
/// of other blocks, and of all blocks.
struct HeldBytes {
  std::int64_t small = 0, large = 0, all = 0;
};

/// The host's cost of a plan, in microseconds.
struct HostCosts {
  std::vector<double> us;  ///< By call: the time to issue it.
  double policy_us = 0;    ///< Per call of profile::calls_with_policy.
  /// How much longer than in the plain step the host may take before the step waits for it.
  double slack_us = std::numeric_limits<double>::infinity();
};

/// One model on one device, run with different plans.
class CheckpointTrial {
 public:
  virtual ~CheckpointTrial() = default;

  /// Records a step with `plan`. Throws Error where the model does not run so.
  virtual Recording record(const CheckpointPlan& plan) = 0;
  virtual StepPeaks peaks(const Recording& recording) = 0;
  /// The peaks when memory is taken up front: what `bytes` leave beside `small_segments_bytes`.
  /// Empty if more than `most_bytes` is reserved then.
  virtual std::optional<ReservedStep> reserve(const Recording& recording, std::int64_t bytes,
                                              std::int64_t /*small_segments_bytes*/,
                                              std::int64_t most_bytes) {
    if (most_bytes < bytes) most_bytes = bytes;
    const StepPeaks all = peaks(recording);
    return all.reserved_bytes <= most_bytes ? std::optional(ReservedStep{{}, all}) : std::nullopt;
  }
  /// Bytes of the segments for small blocks when memory is taken up front. `as_it_is`: the step's
  /// peaks without that.
  virtual std::int64_t small_segments_bytes(const Recording& /*recording*/,
                                            const StepPeaks& as_it_is) {
    return as_it_is.small_segments_bytes;
  }
  /// By call: a lower bound of the bytes held while it runs, for any layout by the allocator.
  virtual std::vector<HeldBytes> held_bytes(const Recording& recording) = 0;
  /// Lower bounds of reserved memory where small blocks have segments of their own and a settled
  /// loop keeps its segments: a step then reserves the peaks of both kinds, at two moments. Each of
  /// the returned weights is valid for all steps that request the sizes of the two recordings; else
  /// empty.
  virtual std::vector<profile::PoolWeights> segment_weights(const Recording& /*again*/,
                                                            const Recording& /*plain*/) {
    return {};
  }
  /// As held_bytes(), with the weights of small and of large blocks.
  virtual std::vector<HeldBytes> held_weights(const Recording& recording,
                                              const profile::PoolWeights& /*weights*/) {
    return held_bytes(recording);
  }
  /// By call: the time of recomputing it, in microseconds.
  virtual std::vector<double> costs_us(const Recording& recording) = 0;
  /// The default is a host that is never waited for.
  virtual HostCosts host_costs(const Recording& recording) {
    return {.us = std::vector<double>(recording.calls.size(), 0.0)};
  }
  /// The FLOPs of all recomputed calls.
  virtual std::int64_t recompute_flops(const Recording& recording) = 0;
};

}  // namespace symprof::plan

// How a checkpoint plan is tried: the step is recorded with it, and the recording is asked what it
// takes.
//
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "profile/memory/segment_weights.h"
#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::plan {

/// What a step with a plan takes of the device.
struct StepPeaks {
  std::int64_t allocated_bytes = 0;
  /// What has to be within a budget.
  std::int64_t reserved_bytes = 0;
  /// The part of it that only blocks of up to `largest_small_bytes` can use.
  std::int64_t small_segments_bytes = 0;
};

/// A step whose loop has asked for large blocks, and has given them back, before the model was
/// made: what is larger than `largest_small_bytes` finds room in their segments. What stays until
/// the loop ends may lie in front of all that comes and goes there (LoopOptions::warm_start).
struct ReservedStep {
  std::vector<std::int64_t> up_front_bytes;  ///< Of each; empty: the loop takes nothing up front.
  StepPeaks peaks;
  bool warm_start = false;
};

/// What is held while a call runs, at most at one moment each: by blocks of up to
/// `largest_small_bytes`, by others, and by both together.
struct HeldBytes {
  std::int64_t small = 0, large = 0, all = 0;
};

/// What a plan costs the host, in microseconds.
struct HostCosts {
  std::vector<double> us;  ///< By call: to issue it.
  double policy_us = 0;    ///< For each call of profile::calls_with_policy.
  /// How much longer than in the plain step the host may take before the step waits for it.
  double slack_us = std::numeric_limits<double>::infinity();
};

constexpr std::int64_t largest_small_bytes = std::int64_t{1} << 20;

/// One model on one device, run with different plans.
class CheckpointTrial {
 public:
  virtual ~CheckpointTrial() = default;

  /// A step with `plan`. Throws Error where the model does not run so.
  virtual Recording record(const CheckpointPlan& plan) = 0;
  virtual StepPeaks peaks(const Recording& recording) = 0;
  /// The same with as much up front as is within `bytes` beside `small_segments_bytes`; empty where
  /// more than `most_bytes` is reserved.
  virtual std::optional<ReservedStep> reserve(const Recording& recording, std::int64_t bytes,
                                              std::int64_t /*small_segments_bytes*/,
                                              std::int64_t most_bytes) {
    if (most_bytes < bytes) most_bytes = bytes;
    const StepPeaks all = peaks(recording);
    return all.reserved_bytes <= most_bytes ? std::optional(ReservedStep{{}, all}) : std::nullopt;
  }
  /// Of a step whose loop takes something up front: `as_it_is` are its peaks without that.
  virtual std::int64_t small_segments_bytes(const Recording& /*recording*/,
                                            const StepPeaks& as_it_is) {
    return as_it_is.small_segments_bytes;
  }
  /// By call: at least so many bytes are held while it runs, however the allocator lays them out.
  virtual std::vector<HeldBytes> held_bytes(const Recording& recording) = 0;
  /// Where small blocks have segments of their own, and segments that a settled loop has needed
  /// once stay reserved: a step reserves then what each kind needs at most, at two moments. Each of
  /// the weights is a lower bound of that, for all steps that ask for the sizes of the two
  /// recordings; else empty.
  virtual std::vector<profile::PoolWeights> segment_weights(const Recording& /*again*/,
                                                            const Recording& /*plain*/) {
    return {};
  }
  /// As held_bytes(), with the weights of small and of large blocks.
  virtual std::vector<HeldBytes> held_weights(const Recording& recording,
                                              const profile::PoolWeights& /*weights*/) {
    return held_bytes(recording);
  }
  /// By call: what it costs to run it again, in microseconds.
  virtual std::vector<double> costs_us(const Recording& recording) = 0;
  /// The default is a host that is never waited for.
  virtual HostCosts host_costs(const Recording& recording) {
    return {.us = std::vector<double>(recording.calls.size(), 0.0)};
  }
  /// Of all calls that run again.
  virtual std::int64_t recompute_flops(const Recording& recording) = 0;
};

}  // namespace symprof::plan

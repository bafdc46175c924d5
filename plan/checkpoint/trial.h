// How a checkpoint plan is tried: the step is recorded with it, and the recording is asked what it
// takes.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::plan {

/// What a step with a plan takes of the device.
struct StepPeaks {
  std::int64_t allocated_bytes = 0;
  /// What has to be within a budget.
  std::int64_t reserved_bytes = 0;
};

/// One model on one device, run with different plans.
class CheckpointTrial {
 public:
  virtual ~CheckpointTrial() = default;

  /// A step with `plan`. Throws Error where the model does not run so.
  virtual Recording record(const CheckpointPlan& plan) = 0;
  virtual StepPeaks peaks(const Recording& recording) = 0;
  /// The same with an allocator that is refused more than `bytes`: it gives cached memory back
  /// instead. Empty where that is not enough, or goes on in every step.
  virtual std::optional<StepPeaks> peaks_within(const Recording& recording, std::int64_t bytes) {
    const StepPeaks all = peaks(recording);
    return all.reserved_bytes <= bytes ? std::optional(all) : std::nullopt;
  }
  /// By call: at least so many bytes are held while it runs, however the allocator lays them out.
  virtual std::vector<std::int64_t> held_bytes(const Recording& recording) = 0;
  /// By call: what it costs to run it again, in microseconds.
  virtual std::vector<double> costs_us(const Recording& recording) = 0;
  /// Of all calls that run again.
  virtual std::int64_t recompute_flops(const Recording& recording) = 0;
};

}  // namespace symprof::plan

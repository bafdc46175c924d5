// Whether a training loop fits into a device, with what margin, and what would make it fit.
//
// Public header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/change.h"
#include "plan/checkpoint/planner.h"
#include "plan/largest_size.h"
#include "profile/memory/step_memory.h"
#include "profile/step_time.h"
#include "record/recording.h"

namespace symprof::plan {

/// What of a device's memory a program has for tensors.
struct Budget {
  std::int64_t device_bytes = 0;  ///< All of it, as the driver gives it to programs.
  /// CUDA's context, the code of kernels and what other processes hold: outside the allocator.
  std::int64_t context_bytes = 0;
  /// Whether the user or the device's file gave context_bytes; else it is an allowance, unmeasured.
  bool is_context_given = false;
  /// Share of the device's memory that the allocator may take, 0 to 1:
  /// torch.cuda.set_per_process_memory_fraction.
  double fraction = 1;

  /// What the driver has left for the allocator.
  std::int64_t free_bytes() const { return device_bytes - context_bytes; }
  /// What the allocator may take of the device: the fraction, at most what is free.
  std::int64_t available_bytes() const {
    return std::min(free_bytes(),
                    static_cast<std::int64_t>(fraction * static_cast<double>(device_bytes)));
  }
};

/// The loop on a device without end, and on the one that is asked for.
struct Fit {
  StepMemory wanted;  ///< What the loop takes where there is always room.
  StepMemory there;   ///< What happens on the device; `refused_call` says that it does not fit.
  /// What of the budget stands aside for values whose end the file does not tell
  /// (profile/memory/peak_doubt.h). `there` has so much less.
  std::int64_t set_aside_bytes = 0;
  /// Whether it fits if those values live as long as is likely (PeakDoubt::bytes), and if all of
  /// them are held until the step is over (most_bytes); empty where the peak is no lower bound.
  std::optional<bool> fits_if_likely, fits_at_most;
  /// What the model's own calls may take beside those of the file
  /// (other_calls_margin_bytes in profile/memory/other_calls.h), and whether it fits with that too;
  /// empty where there is no such doubt.
  std::int64_t other_calls_bytes = 0;
  std::optional<bool> fits_with_other_calls;

  bool fits() const { return !there.refused_call; }
  /// Cached memory had to go back to the device to make room: it fits, and costs time.
  bool is_tight() const { return fits() && there.alloc_retries > 0; }
  /// Bytes left beside the reserved memory that the loop wants; below 0, those missing.
  std::int64_t margin_bytes(const Budget& budget) const {
    return budget.available_bytes() - set_aside_bytes - wanted.peak_reserved_bytes;
  }
};

/// A program that ran: its range (profile::StepMemoryOptions), and its memory where there is always
/// room.
struct ProgramRun {
  profile::ProgramRange range;
  const StepMemory& wanted;
};

/// Runs the loop on the simulated allocator: once where there is always room, and once more on the
/// device where that could have been too much. Of a program that ran, the first is known.
Fit fit(const Recording& recording, const DeviceSpec& device, const Budget& budget,
        const profile::LoopOptions& loop, std::optional<ProgramRun> program = std::nullopt);

/// Whether the loop fits: the answer of fit(), with one run.
bool fits(const Recording& recording, const DeviceSpec& device, const Budget& budget,
          const profile::LoopOptions& loop);

/// Another way to run the same model, and what comes of it.
struct TriedChange {
  Change change;
  Fit fit;
};

/// A way that the model does not run with.
struct NotTried {
  Change change;
  std::string problem;  ///< May refer to settings (base/setting.h).
};

/// A checkpoint plan for a loop that does not fit (plan/checkpoint/planner.h).
struct OfferedPlan {
  PlanAnswer answer;
  double step_us = 0;  ///< Of the step without a plan.
  /// What is held whatever runs again; empty: not known.
  std::optional<std::int64_t> least_bytes;
};

/// The largest size that fits with a checkpoint plan of its own, and that plan.
struct PlannedSize {
  LargestSize size;
  std::optional<OfferedPlan> plan;
};

struct FitReport {
  DeviceSpec device;
  Budget budget;
  Recording recording;  ///< The step, recorded for this device.
  Fit fit;
  std::string dimension;  ///< Empty: no largest size was asked for.
  std::optional<LargestSize> largest;
  std::optional<Fit> at_largest;
  std::optional<PlannedSize> largest_with_plan;  ///< Empty: not asked for.
  /// How long a step takes, where that is asked for: with the largest size that fits, or as given
  /// where none was asked for; empty where that does not fit.
  std::optional<StepTime> time;
  /// Changes that make the loop fit come first; within each group, the one that costs least.
  std::vector<TriedChange> changes;
  std::vector<NotTried> not_tried;
  std::optional<OfferedPlan> plan;  ///< Empty: none was looked for.
};

}  // namespace symprof::plan

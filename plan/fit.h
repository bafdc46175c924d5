// Does a training loop fit a device, with what margin, and what would make it fit?
//
// Public header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/device_spec.h"
#include "plan/change.h"
#include "plan/checkpoint/answers.h"
#include "plan/largest_size.h"
#include "profile/memory/memory_data.h"
#include "profile/time_data.h"
#include "record/recording.h"

namespace symprof::plan {

/// The part of a device's memory that a program can use for tensors.
struct Budget {
  std::int64_t device_bytes = 0;  ///< All of it, as the driver gives it to programs.
  /// CUDA's context, the code of kernels and other processes' memory: outside the allocator.
  std::int64_t context_bytes = 0;
  /// True if the user or the device's file gives context_bytes; else it is an unmeasured allowance.
  bool is_context_given = false;
  /// The share of the device's memory that the allocator may use, 0 to 1:
  /// torch.cuda.set_per_process_memory_fraction.
  double fraction = 1;

  /// Bytes that the driver leaves for the allocator.
  std::int64_t free_bytes() const { return device_bytes - context_bytes; }
  /// Bytes of the device that the allocator may use: the fraction, at most what is free.
  std::int64_t available_bytes() const {
    return std::min(free_bytes(),
                    static_cast<std::int64_t>(fraction * static_cast<double>(device_bytes)));
  }
};

/// The loop on a device without a memory limit, and on the requested one.
struct Fit {
  StepMemory wanted;  ///< The loop's memory without a limit.
  StepMemory there;   ///< The loop on the device; `refused_call` says that it does not fit.
  /// The part of the budget set aside for values of uncertain lifetime
  /// (profile/memory/peak_uncertainty.h). `there` has so much less.
  std::int64_t set_aside_bytes = 0;
  /// True if it fits with the likely lifetimes of those values (PeakUncertainty::bytes), and if all
  /// of them live until the step ends (most_bytes); empty where the peak is no lower bound.
  std::optional<bool> fits_if_likely, fits_at_most;
  /// Bytes that the real model may need beyond the file's calls (other_calls_margin_bytes in
  /// profile/memory/other_calls.h), and true if it fits even then; empty without such uncertainty.
  std::int64_t other_calls_bytes = 0;
  std::optional<bool> fits_with_other_calls;

  bool fits() const { return !there.refused_call; }
  /// It fits only after the allocator has released cached blocks to the device, which costs time.
  bool is_tight() const { return fits() && there.alloc_retries > 0; }
  /// Bytes left beside the reserved memory; negative: bytes missing.
  std::int64_t margin_bytes(const Budget& budget) const {
    return budget.available_bytes() - set_aside_bytes - wanted.peak_reserved_bytes;
  }
};

/// A program that was run: its range (profile::StepMemoryOptions), and its memory without a limit.
struct ProgramRun {
  profile::ProgramRange range;
  const StepMemory& wanted;
};

/// Simulates the loop on the allocator: once without a limit, and once on the device if that
/// exceeds its limit. For a program that was run, the first result is known.
Fit fit(const Recording& recording, const DeviceSpec& device, const Budget& budget,
        const profile::LoopOptions& loop, std::optional<ProgramRun> program = std::nullopt);

/// True if the loop fits: the answer of fit(), from one simulation.
bool fits(const Recording& recording, const DeviceSpec& device, const Budget& budget,
          const profile::LoopOptions& loop);

/// Another way to run the same model, and its result.
struct TriedChange {
  Change change;
  Fit fit;
};

/// A change with which the model does not run.
struct NotTried {
  Change change;
  std::string problem;  ///< May refer to settings (base/setting.h).
};

/// A checkpoint plan for a loop that does not fit (plan/checkpoint/answers.h).
struct OfferedPlan {
  PlanAnswer answer;
  double step_us = 0;  ///< Of the step without a plan.
  /// A lower bound of the memory with any checkpoint plan; empty: unknown.
  std::optional<std::int64_t> least_bytes;
};

/// The largest size that fits with a checkpoint plan, and that plan.
struct PlannedSize {
  LargestSize size;
  std::optional<OfferedPlan> plan;
};

struct FitReport {
  DeviceSpec device;
  Budget budget;
  Recording recording;  ///< The step, recorded for this device.
  Fit fit;
  std::string dimension;  ///< Empty: no largest size was requested.
  std::optional<LargestSize> largest;
  std::optional<Fit> at_largest;
  std::optional<PlannedSize> largest_with_plan;  ///< Empty: not requested.
  /// The time of a step, if requested: at the largest size that fits, or as given where no size was
  /// requested; empty where that does not fit.
  std::optional<StepTime> time;
  /// Changes that make the loop fit come first; within each group, the one that costs least.
  std::vector<TriedChange> changes;
  std::vector<NotTried> not_tried;
  std::optional<OfferedPlan> plan;  ///< Empty: none was searched for.
};

}  // namespace symprof::plan

// How long the calls of a step take, and the step: plain data (profile/step_time.h fills it).
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/time/kernel.h"
#include "record/ids.h"

namespace symprof {

/// How kernels come to the device.
enum class LaunchKind : std::uint8_t {
  eager,  ///< The host issues call by call.
  graph,  ///< One CUDA graph holds the whole step.
};

struct TimeOptions {
  LaunchKind launch = LaunchKind::eager;
};

/// A collective of the step with its time, in a queue beside computation.
struct TimedCollective {
  /// The collective is issued before this call, and sends results of earlier calls.
  CallId before_call = 0;
  CallId needed_by = 0;  ///< Calls from this one on wait for it; behind the last: the step does.
  double us = 0;
  double low_us = us, high_us = us;  ///< Nine of ten measurements lie between the two.
};

/// One call, on the device.
struct CallTime {
  double us = 0, low_us = 0, high_us = 0;  ///< Nine of ten measurements lie between the two.
  std::int32_t launches = 0;               ///< Kernels at least.
  profile::Limit limit = profile::Limit::nothing;
  /// The least certain of its kernels'.
  profile::TimeBasis basis = profile::TimeBasis::calibrated;
  bool waits = false;        ///< The host waits for it.
  bool is_replayed = false;  ///< In a CUDA graph, which the host launches as a whole.
  bool has_policy = false;   ///< Python is asked about it first (profile/policy_calls.h).
  /// Class and kind of the kernel that takes longest (profile/time/kernel.h).
  profile::TimeClass time_class = profile::TimeClass::elementwise;
  std::string_view kind;
};

/// When a call is issued by the host and runs on the device, in a step that finds both idle.
/// Microseconds since its begin.
struct CallSlot {
  double issue_us = 0, issued_us = 0;  ///< The same in a graph.
  double begin_us = 0, end_us = 0;     ///< The same where nothing runs.
};

/// Times for which a pipeline's ranks wait for each other, and the times of all stages.
struct PipelineTime {
  double makespan_us = 0;  ///< All passes of all microbatches, on all ranks.
  double bubble = 0;       ///< The share of it in which a rank is idle, on average.
  double idle_us = 0;      ///< Of it, on this rank.
  double transfer_us = 0;  ///< The longest message between two stages.
};

/// Time of one step, in microseconds: the host issues calls, the device runs them in order, and the
/// host waits only where a call synchronizes.
struct StepTime {
  LaunchKind launch = LaunchKind::eager;
  double forward_us = 0, backward_us = 0, optimizer_us = 0;  ///< The device is busy.
  double host_us = 0;                                        ///< The host issues calls.
  double step_us = 0, low_us = 0, high_us = 0;
  double idle_us = 0;         ///< The device waits for the host, or for its next kernel to begin.
  double peak_us = 0;         ///< The time of all products at the peak rate of their types.
  double model_peak_us = 0;   ///< The same without what backward computes again.
  double data_sheet_us = 0;   ///< Of the busy time: what no measurement of the device stands for.
  std::int64_t launches = 0;  ///< Kernels at least.
  std::int64_t unknown_calls = 0;        ///< Without a time: the step takes longer than is said.
  std::vector<std::string> unknown_ops;  ///< Sorted, distinct.
  /// The first dimension of the first input, and where that holds whole numbers in two dimensions,
  /// how many there are.
  std::optional<std::int64_t> samples, tokens;
  double communication_us = 0;  ///< Of all collectives.
  double exposed_us = 0;        ///< Computation stands still because of them.
  /// With it `step_us` is the pipeline's; `schedule` has no messages.
  std::optional<PipelineTime> pipeline;
  std::vector<CallSlot> schedule;  ///< By CallId.

  double busy_us() const { return forward_us + backward_us + optimizer_us; }
};

}  // namespace symprof

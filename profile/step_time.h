// Times of a step: its calls on the device, and the step including the host.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_spec.h"
#include "profile/time/time_model.h"
#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof {

struct Profile;

/// How kernels are launched.
enum class LaunchKind : std::uint8_t {
  eager,  ///< The host issues call by call.
  graph,  ///< One CUDA graph holds the whole step.
};

struct TimeOptions {
  LaunchKind launch = LaunchKind::eager;
};

/// A collective of the step with its time, in a queue concurrent with computation.
struct TimedCollective {
  CallId before_call = 0;  ///< Issued before this call; it sends results of earlier calls.
  CallId needed_by =
      0;  ///< Calls from this one on wait for it; after the last call: the step's end does.
  double us = 0;
};

/// One call, on the device.
struct CallTime {
  double us = 0, low_us = 0, high_us = 0;  ///< Nine of ten measurements lie between the two.
  std::int32_t launches = 0;               ///< Lower bound of kernels.
  profile::Limit limit = profile::Limit::nothing;
  profile::TimeBasis basis =
      profile::TimeBasis::calibrated;  ///< The least certain of its kernels'.
  bool waits = false;                  ///< The host waits for it.
  bool has_policy = false;  ///< Its checkpointing policy is called first (profile/policy_calls.h).
  /// Class and kind of the kernel that takes longest (profile/time/kernel.h).
  profile::TimeClass time_class = profile::TimeClass::elementwise;
  std::string_view kind;
};

/// Issue and run times of a call, in a step that starts with host and device idle. Microseconds
/// since the step's start.
struct CallSlot {
  double issue_us = 0, issued_us = 0;  ///< The same in a graph.
  double begin_us = 0, end_us = 0;     ///< Equal if nothing runs.
};

/// Waiting times between a pipeline's ranks, from the times of all stages.
struct PipelineTime {
  double makespan_us = 0;  ///< All passes of all microbatches, on all ranks.
  double bubble = 0;       ///< The share of it in which a rank is idle, on average.
  double idle_us = 0;      ///< Of it, on this rank.
  double transfer_us = 0;  ///< The longest message between two stages.
};

/// A step of a loop that synchronizes only where its calls do: the host issues calls, the device
/// runs them in order. Microseconds.
struct StepTime {
  LaunchKind launch = LaunchKind::eager;
  double forward_us = 0, backward_us = 0, optimizer_us = 0;  ///< The device is busy.
  double host_us = 0;                                        ///< The host issues calls.
  double step_us = 0, low_us = 0, high_us = 0;
  double idle_us = 0;              ///< The device waits for the host, or between kernels.
  double peak_us = 0;              ///< Time of products at the peak FLOP/s of their dtypes.
  double model_peak_us = 0;        ///< The same without recomputation.
  double data_sheet_us = 0;        ///< Part of the busy time without a measurement of this device.
  std::int64_t launches = 0;       ///< Lower bound of kernels.
  std::int64_t unknown_calls = 0;  ///< Calls without a time: the step's time is a lower bound.
  std::vector<std::string> unknown_ops;  ///< Sorted, distinct.
  /// Samples: the first dimension of the first input. Tokens: its number of elements, if it is a
  /// 2-D integer tensor.
  std::optional<std::int64_t> samples, tokens;
  double communication_us = 0;  ///< Of all collectives.
  double exposed_us = 0;        ///< Time that computation waits for them.
  /// If set, `step_us` is the pipeline's; `schedule` has no messages.
  std::optional<PipelineTime> pipeline;
  std::vector<CallSlot> schedule;  ///< By CallId.

  double busy_us() const { return forward_us + backward_us + optimizer_us; }
};

namespace profile {

class OperatorTable;

/// Fills the times of `profile`: each call, each row and the step. `own`: the caller's rules; may
/// be null. `plan`: the plan that the step was recorded with.
void add_times(Profile& profile, const DeviceSpec& device, TimeModel& model,
               const TimeOptions& options, const OperatorTable* own = nullptr,
               const CheckpointPlan& plan = {});

/// Reruns the step of a profile that has times, with concurrent collectives: fills
/// `communication_us`, `exposed_us`, and the step time and schedule derived from them.
/// `collectives`: in issue order.
void add_collectives(Profile& profile, const DeviceSpec& device,
                     const std::vector<TimedCollective>& collectives);

/// The load of one call on the two queues of a step, in microseconds.
struct CallLoad {
  double device_us = 0;  ///< Including gaps between kernels. 0 if unknown.
  double host_us = 0;    ///< 0 in a graph.
  bool is_known = true;
  std::int64_t flops = 0;
};

/// The loads of a step's calls.
struct StepLoad {
  std::vector<CallLoad> calls;  ///< By CallId.
  double step_us = 0;           ///< As StepTime has it.
  double device_us = 0, host_us = 0;
  std::int64_t unknown_calls = 0;
  std::vector<CallSlot> schedule;  ///< By CallId.

  /// True if the step is host-bound.
  bool waits_for_host() const { return host_us > device_us; }
};

/// The times of add_times for a recording alone, with collectives as add_collectives has them.
StepLoad load_of_step(const Recording& recording, const DeviceSpec& device, TimeModel& model,
                      const TimeOptions& options, const OperatorTable* own = nullptr,
                      const std::vector<TimedCollective>& collectives = {},
                      const CheckpointPlan& plan = {});

}  // namespace profile
}  // namespace symprof

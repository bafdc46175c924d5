// Times of a step: its calls on the device, and the step including the host.
#pragma once

#include <cstdint>
#include <vector>

#include "base/device_spec.h"
#include "profile/time/time_model.h"
#include "profile/time_data.h"
#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof {

struct Profile;

namespace profile {

class OperatorTable;

/// Fills the times of `profile`: each call, each row and the step. `own`: the caller's rules; may
/// be null. `plan`: the plan that the step was recorded with.
void add_times(Profile& profile, const DeviceSpec& device, TimeModel& model,
               const TimeOptions& options, const OperatorTable* own = nullptr,
               const CheckpointPlan& plan = {});

/// Reruns the step of a profile that has times, with concurrent collectives: fills
/// `communication_us`, `exposed_us`, and the step time and schedule derived from them.
/// `collectives`: in issue order. Their intervals are part of the step's: all of them may be as
/// fast or as slow as theirs allow at once, for one library and one kind of link carries them.
void add_collectives(Profile& profile, const DeviceSpec& device,
                     const std::vector<TimedCollective>& collectives);

/// How far an end of an interval is from its middle, as a factor.
struct Reach {
  double low = 1, high = 1;
};

/// Sets the interval of `step` to the two, which are independent.
void join_reaches(StepTime& step, const Reach& one, const Reach& other);

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
  double step_us = 0;           ///< As in StepTime.
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

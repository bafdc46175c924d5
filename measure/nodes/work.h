// The work in a trace, by step.
#pragma once

#include <vector>

#include "measure/measurement.h"
#include "measure/trace.h"

namespace symprof::measure::nodes {

/// One piece of time.
struct Work {
  OperatorId op = none;                ///< The innermost range around it.
  const Activity* activity = nullptr;  ///< Null on the CPU.
  Phase phase = Phase::forward;
  std::int64_t ns = 0;
};

struct StepOfTrace {
  std::int64_t begin_ns = 0, end_ns = 0;  ///< On the host.
  std::vector<Work> work;                 ///< Work launched between the two.
};

/// The profiler's steps, or one step with everything if there are none. Work outside of all steps
/// is dropped. In a trace without a device, work is the self time of operators.
std::vector<StepOfTrace> steps_of(const Trace& trace);

}  // namespace symprof::measure::nodes

// What took time in a trace, and in which of its steps.
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
  std::vector<Work> work;                 ///< What was asked for between the two.
};

/// The profiler's steps, or one step of everything where there are none. Work outside of all steps
/// is in none. In a trace without a device, work is the time of operators, each without what it
/// called.
std::vector<StepOfTrace> steps_of(const Trace& trace);

}  // namespace symprof::measure::nodes

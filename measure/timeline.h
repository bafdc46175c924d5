// One step as it ran, call by call and kernel by kernel.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/trace.h"
#include "record/recording.h"

namespace symprof::measure {

/// An operator that the step called, on the host. Nanoseconds since the step's first call.
struct TimelineCall {
  std::string op;
  NodeId node = none;
  Phase phase = Phase::forward;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// A kernel, a copy or a memset. Nanoseconds since the step's first call.
struct TimelineWork {
  std::string name;
  Activity::Kind kind = Activity::Kind::kernel;
  std::int32_t call = none;  ///< Index into Timeline::calls; none: it found no call.
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t device = 0, stream = 0;
};

struct Timeline {
  std::vector<TimelineCall> calls;  ///< As they began.
  std::vector<TimelineWork> works;  ///< Empty of a step on the CPU.

  /// Sets the clock to 0 where the first of `calls` begins, or of `works` where there are none.
  void begin_at_zero();
};

}  // namespace symprof::measure

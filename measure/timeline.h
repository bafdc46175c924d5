// The timeline of one step, call by call and kernel by kernel.
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
  std::int32_t call = none;  ///< Index into Timeline::calls; none: no call found.
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t device = 0, stream = 0;
};

struct Timeline {
  std::vector<TimelineCall> calls;  ///< In order of start.
  std::vector<TimelineWork> works;  ///< Empty for a step on the CPU.

  /// Shifts times so that the first of `calls` (or of `works` without calls) starts at 0.
  void begin_at_zero();
};

}  // namespace symprof::measure

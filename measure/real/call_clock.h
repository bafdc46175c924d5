// Host timing of each operator that a step calls.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "measure/measurement.h"
#include "measure/real/call_places.h"
#include "measure/timeline.h"

namespace symprof::measure::real {

/// Nanoseconds of a monotonic clock.
std::int64_t now_ns();

/// Times the outermost operators of this thread during its lifetime. One per thread at a time.
class CallClock {
 public:
  /// `places` has to outlive it. `keeps_calls`: enables take_calls().
  CallClock(CallPlaces& places, std::size_t nodes, bool keeps_calls);
  ~CallClock();
  CallClock(const CallClock&) = delete;
  CallClock& operator=(const CallClock&) = delete;

  /// The times since the last call of this, by NodeId.
  std::vector<Times> take();
  /// The operators since the last call, in order of start; times by now_ns().
  std::vector<TimelineCall> take_calls();

 private:
  struct Open;

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function);
  static void end(const at::RecordFunction& function, at::ObserverContext* context);

  CallPlaces& places_;
  at::CallbackHandle handle_;
  std::vector<Times> times_;
  bool keeps_calls_;
  std::vector<TimelineCall> calls_;
};

}  // namespace symprof::measure::real

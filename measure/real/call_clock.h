// A clock of the host at each operator that a step calls.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "measure/measurement.h"
#include "measure/real/call_places.h"
#include "measure/timeline.h"

namespace symprof::measure::real {

/// Nanoseconds of a clock that never goes back.
std::int64_t now_ns();

/// While it lives, the operators of this thread are timed, each with those that it calls. One at a
/// time on a thread.
class CallClock {
 public:
  /// `places` has to outlive it. `keeps_calls`: take_calls() is wanted.
  CallClock(CallPlaces& places, std::size_t nodes, bool keeps_calls);
  ~CallClock();
  CallClock(const CallClock&) = delete;
  CallClock& operator=(const CallClock&) = delete;

  /// The times since the last call of this, by NodeId.
  std::vector<Times> take();
  /// The operators since the last call of this, as they began; begin and end by now_ns().
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

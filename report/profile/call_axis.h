// The horizontal axis of drawings over the calls of a step.
#pragma once

#include <vector>

#include "record/recording.h"

namespace symprof::report {

/// Calls are evenly spaced, but a phase of few calls (an update of ten beside a backward pass of
/// thousands) gets enough room to be visible.
class CallAxis {
 public:
  struct Stretch {
    Phase phase = Phase::forward;
    CallId first = 0, end = 0;
    double x = 0, width = 0;
  };

  /// `left` and `width` of the axis in pixels.
  CallAxis(const Recording& recording, double left, double width);

  double x_of(CallId call) const;  ///< The call's start, in pixels.
  /// The phases that the step has: forward, backward with the loss before it, optimizer.
  const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  std::vector<Stretch> stretches_;
};

}  // namespace symprof::report

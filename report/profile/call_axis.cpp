#include "report/profile/call_axis.h"

#include <algorithm>

namespace symprof::report {
namespace {

constexpr double least_phase_width = 80;  ///< In pixels; a phase's name fits below it.

// The loss's few calls are drawn with backward, recomputed calls at their place in backward.
Phase drawn_with(Phase phase) {
  return phase == Phase::loss || phase == Phase::recompute ? Phase::backward : phase;
}

}  // namespace

CallAxis::CallAxis(const Recording& recording, double left, double width) {
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const Phase phase = drawn_with(recording.calls[i].phase);
    if (stretches_.empty() || phase != stretches_.back().phase)
      stretches_.push_back({.phase = phase, .first = static_cast<CallId>(i)});
    stretches_.back().end = static_cast<CallId>(i) + 1;
  }
  const auto calls = static_cast<double>(recording.calls.size());
  const auto share = [&](const Stretch& stretch) {
    return width * static_cast<double>(stretch.end - stretch.first) / calls;
  };
  double given = 0, shared = 0;
  for (const Stretch& stretch : stretches_)
    (share(stretch) < least_phase_width ? given : shared) +=
        share(stretch) < least_phase_width ? least_phase_width : share(stretch);
  double x = left;
  for (Stretch& stretch : stretches_) {
    stretch.x = x;
    stretch.width = share(stretch) < least_phase_width ? least_phase_width
                                                       : share(stretch) * (width - given) / shared;
    x += stretch.width;
  }
}

double CallAxis::x_of(CallId call) const {
  const auto after = std::ranges::upper_bound(stretches_, call, {}, &Stretch::first);
  if (after == stretches_.begin()) return stretches_.empty() ? 0 : stretches_.front().x;
  const Stretch& stretch = *std::prev(after);
  return stretch.x + stretch.width * static_cast<double>(call - stretch.first) /
                         static_cast<double>(stretch.end - stretch.first);
}

}  // namespace symprof::report

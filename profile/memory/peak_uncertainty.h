// Lifetime uncertainty: how much higher a step's peak may be, if a file does not show how long
// Python keeps values alive.
//
// Public header.
#pragma once

#include <cstdint>

#include "record/recording.h"

namespace symprof {

struct PeakUncertainty {
  /// Growth of the peak if every value of unknown lifetime lives as long as it can, plus
  /// unregistered tensors of modules; 0 if unchanged.
  std::int64_t bytes = 0;
  /// Growth of the peak if every value of a function without source lines is kept until the step's
  /// end, by a list or an attribute: the upper bound for such functions. At least `bytes`.
  std::int64_t most_bytes = 0;
  LifetimeUncertainty because = LifetimeUncertainty::none;  ///< The cause of most of `bytes`.
  std::int64_t peak_bytes = 0;  ///< The peak of the recorded step, tensors alone.
  bool trains = false;          ///< The step has a backward pass.

  /// True if the peak is a lower bound: the uncertainty exceeds 2 % of the peak, or is above 0 in
  /// training (whose peaks are otherwise exact) or without Python lines (which would show
  /// containers too).
  bool is_lower_bound() const {
    return bytes > (trains || because == LifetimeUncertainty::no_lines ? 0 : peak_bytes / 50);
  }

  /// Memory that should be free beyond a lower-bound peak: in inference, all that may be held. In
  /// training, the likely part: most values are saved for backward anyway, and lists that outlive
  /// backward are rare.
  std::int64_t margin_bytes() const {
    if (!is_lower_bound()) return 0;
    return trains ? bytes : most_bytes;
  }
};

namespace profile {

/// Replays the step's allocations three times, in blocks of 512 bytes: as recorded; with each block
/// freed as late as possible (StorageRecord::may_live_until), at the latest at the end of the
/// forward pass; and with blocks of open lifetime never freed (StorageRecord::end_is_open).
PeakUncertainty peak_uncertainty(const Recording& recording);

}  // namespace profile
}  // namespace symprof

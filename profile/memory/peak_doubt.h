// By how much a step's peak may be above what was found, where a file does not tell how long Python
// holds values.
//
// Public header.
#pragma once

#include <cstdint>

#include "record/recording.h"

namespace symprof {

struct PeakDoubt {
  /// What the peak grows by if every value whose end the file does not tell is held as long as it
  /// can be, and with what modules hold unregistered; 0 where that changes nothing.
  std::int64_t bytes = 0;
  /// What it grows by if every value that a function had whose lines the file does not have is held
  /// until the step is over, by a list or an attribute: no such function can hold more. At least
  /// `bytes`.
  std::int64_t most_bytes = 0;
  LifetimeDoubt because = LifetimeDoubt::none;  ///< Of most of `bytes`.
  std::int64_t peak_bytes = 0;                  ///< The peak of the recorded step, tensors alone.
  bool trains = false;                          ///< The step has a backward pass.

  /// Whether more is open than a fiftieth of the peak; anything at all in training, whose peaks are
  /// exact else, and where there are no lines of Python, which would show containers too.
  bool is_lower_bound() const {
    return bytes > (trains || because == LifetimeDoubt::no_lines ? 0 : peak_bytes / 50);
  }

  /// What has to be free beside a peak that is a lower bound, to be sure: in inference all that may
  /// be held. In training it is what is likely: most values are saved for backward anyway, and
  /// lists that outlive backward are rare.
  std::int64_t margin_bytes() const {
    if (!is_lower_bound()) return 0;
    return trains ? bytes : most_bytes;
  }
};

namespace profile {

/// Replays the step's allocations three times, in blocks of 512 bytes: as they were recorded; with
/// each block freed as late as it may be (StorageRecord::may_live_until), at the latest when the
/// forward pass ends; and with the blocks never freed whose end is open
/// (StorageRecord::end_is_open).
PeakDoubt peak_doubt(const Recording& recording);

}  // namespace profile
}  // namespace symprof

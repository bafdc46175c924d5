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
  /// can be; 0 where that changes nothing.
  std::int64_t bytes = 0;
  LifetimeDoubt because = LifetimeDoubt::none;  ///< Of most of the bytes.
  std::int64_t peak_bytes = 0;                  ///< The peak of the recorded step, tensors alone.

  /// Whether more is open than a fiftieth of the peak; anything at all where there are no lines of
  /// Python, which would show containers too.
  bool is_lower_bound() const {
    return bytes > (because == LifetimeDoubt::no_lines ? 0 : peak_bytes / 50);
  }
};

namespace profile {

/// Replays the step's allocations twice, in blocks of 512 bytes: as they were recorded, and with
/// each block freed as late as it may be (StorageRecord::may_live_until), at the latest when the
/// forward pass ends.
PeakDoubt peak_doubt(const Recording& recording);

}  // namespace profile
}  // namespace symprof

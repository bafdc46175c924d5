// Tapes of a recorded step, for a run in which other steps come before and after it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/device_spec.h"
#include "profile/memory/run/step_tape.h"
#include "record/recording.h"

namespace symprof::profile {

/// Which of `tapes` a pass of `passes` before an update is: the first, one between, or the last.
std::size_t place_of_pass(int pass, int passes, std::size_t tapes);

/// By the place of a pass among those before an update: the first, one between, the last. Where
/// each pass has an update, there is one.
struct StepTapes {
  StepTape before;                     ///< What the loop holds before its first step.
  std::vector<StepTape> first, later;  ///< Of the loop's first update, and of any other.

  /// `pass` of `passes` before an update.
  const StepTape& of(bool is_first_update, int pass, int passes) const;
};

StepTapes tapes_of_recording(const Recording& recording, const DeviceSpec& device,
                             LoopOptions loop);

}  // namespace symprof::profile

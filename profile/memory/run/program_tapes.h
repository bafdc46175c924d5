// Tapes of the steps of a program that ran.
#pragma once

#include <vector>

#include "base/device_spec.h"
#include "profile/memory/run/step_tape.h"
#include "record/program_recording.h"

namespace symprof::profile {

/// A tape for each finished step of the program, the first of which has all that came before it;
/// that of the last step is not to be used (cut_into_tapes). `own` are rules of the caller; null:
/// none.
std::vector<StepTape> tapes_of_program(const ProgramRecording& program, const DeviceSpec& device,
                                       const LoopOptions& loop, const OperatorTable* own = nullptr);

}  // namespace symprof::profile

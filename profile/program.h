// The profile of one step of an executed program.
#pragma once

#include <cstddef>

#include "base/device_spec.h"
#include "profile/profile.h"
#include "record/program_recording.h"

namespace symprof::profile {

class OperatorTable;  // profile/operators/operators.h

/// The memory of `step`, for StepMemoryOptions.
ProgramRange range_of(const ProgramStep& step);

struct ProgramProfile {
  Profile profile;    ///< Calls and nodes are counted from the step's first.
  StepMemory memory;  ///< The same memory, with the whole program's calls and nodes.
};

/// The rows and totals are those of `step`. The memory replays the whole program's allocations
/// until the step's end on the simulated allocator of `device`; peaks count from the step's start,
/// as after torch.cuda.reset_peak_memory_stats(). `own` are rules of the caller
/// (profile/own_rules.h); null: none.
ProgramProfile evaluate_program(const ProgramRecording& program, const ProgramStep& step,
                                const DeviceSpec& device, const LoopOptions& loop = {},
                                const OperatorTable* own = nullptr);

}  // namespace symprof::profile

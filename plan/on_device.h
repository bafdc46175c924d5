// A loop on a device with a memory limit, as options of its simulation.
#pragma once

#include <cstdint>

#include "plan/fit.h"
#include "profile/memory/step_memory.h"

namespace symprof::plan {

/// `aside` bytes of the budget are set aside. The allocator's fraction refers to the memory that
/// the simulated device has.
profile::StepMemoryOptions on_device(const Budget& budget, std::int64_t aside,
                                     profile::LoopOptions loop);

/// True if a loop that reserves so much where it may takes no other way there: its memory is within
/// the limit. Garbage collection starts before the limit is reached.
bool never_asks_for_more(std::int64_t peak_reserved_bytes, const profile::StepMemoryOptions& there);

}  // namespace symprof::plan

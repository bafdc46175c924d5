// A loop on a device with a memory limit, as options of its simulation.
#pragma once

#include <cstdint>

#include "profile/memory/step_memory.h"

namespace symprof::plan {

/// The device's memory, what other things leave of it, and the share of all of it that the
/// allocator may use: as in Budget.
struct DeviceShare {
  std::int64_t device_bytes = 0, free_bytes = 0;
  double fraction = 1;
};

/// `aside` bytes are set aside. The allocator's fraction refers to the memory that the simulated
/// device has.
profile::StepMemoryOptions on_device(const DeviceShare& share, std::int64_t aside,
                                     profile::LoopOptions loop);

/// True if a loop that reserves so much without a limit runs alike `there`: it is within the limit.
/// Garbage collection starts before the limit is reached.
bool never_asks_for_more(std::int64_t peak_reserved_bytes, const profile::StepMemoryOptions& there);

}  // namespace symprof::plan

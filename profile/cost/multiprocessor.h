// Limits of a GPU's streaming multiprocessor.
#pragma once

#include <cstdint>

#include "base/device_spec.h"

namespace symprof::profile {

/// CUDA C++ Programming Guide, technical specifications by compute capability.
inline std::int64_t threads_of_multiprocessor(const DeviceSpec& device) {
  if (device.compute_major == 7 && device.compute_minor == 5) return 1024;
  const bool is_for_graphics =
      device.compute_major == 12 || (device.compute_major == 8 && device.compute_minor != 0);
  return is_for_graphics ? 1536 : 2048;
}

}  // namespace symprof::profile

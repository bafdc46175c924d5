// The device that a step runs on.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace symprof::measure::real {

/// "cpu", "cuda" or "cuda:1". Throws Error (not_available) if LibTorch has no kernels for it or the
/// GPU does not exist, Error for an invalid name.
c10::Device device_of(const std::string& name);

/// Makes the CPU's allocator keep freed memory from now on: page faults cost more than most
/// operators that write the pages. Does nothing for a GPU.
void keep_freed_memory(c10::Device device);

/// Waits until the device is idle.
void wait_for(c10::Device device);

/// Peak bytes of PyTorch's caching allocator since reset_peaks(). Zeros for the CPU.
struct Peaks {
  std::int64_t allocated_bytes = 0, reserved_bytes = 0;
};
void reset_peaks(c10::Device device);
Peaks peaks_of(c10::Device device);
/// Currently reserved bytes of the same allocator.
std::int64_t reserved_bytes(c10::Device device);

}  // namespace symprof::measure::real

// The device that a step runs on, as LibTorch names it.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace symprof::measure::real {

/// "cpu", "cuda" or "cuda:1". Throws Error (not_available) where LibTorch has no kernels for it or
/// there is no such GPU, Error for another name.
c10::Device device_of(const std::string& name);

/// The CPU's allocator gives nothing back to the system from now on: a page that the system has to
/// clear again costs more than most operators that write it. Does nothing for a GPU.
void keep_freed_memory(c10::Device device);

/// Until the device has done what was asked of it.
void wait_for(c10::Device device);

/// Bytes of PyTorch's caching allocator, at most, since reset_peaks(). Zeros for the CPU, which has
/// none.
struct Peaks {
  std::int64_t allocated_bytes = 0, reserved_bytes = 0;
};
void reset_peaks(c10::Device device);
Peaks peaks_of(c10::Device device);
/// Of the same allocator, now.
std::int64_t reserved_bytes(c10::Device device);

}  // namespace symprof::measure::real

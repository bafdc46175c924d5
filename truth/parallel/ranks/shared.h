// What the parts of the GPU that computes nothing have in common.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

/// Copies of no more keep their bytes.
inline constexpr std::size_t shadow_bytes = 65536;

inline std::size_t total_bytes() {
  static const std::size_t total = std::strtoull(std::getenv("FAKE_DEVICE_BYTES"), nullptr, 10);
  return total;
}

inline int make_handle(void** handle) {
  static char handles[65536];
  static std::atomic<unsigned> made = 0;
  *handle = &handles[++made % sizeof handles];
  return 0;
}

inline int answer_zero(void*, int* value) {
  *value = 0;
  return 0;
}

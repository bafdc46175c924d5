// The settings under which the simulated allocator is held against the real one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace symprof::test {

struct AllocatorMode {
  std::string_view name;
  std::string_view settings;  // PYTORCH_ALLOC_CONF
  std::int64_t device_bytes;
  bool empties_cache = false;
  std::uint64_t seed = 1;
};

constexpr std::int64_t h200_bytes = 150754820096, small_device_bytes = 4'000'000'000;

/// On the small device, where some 300 blocks of 16 MiB on average do not fit, requests fail again
/// and again: cached memory is freed, and then the request is refused.
inline constexpr std::array allocator_modes = {
    AllocatorMode{"default", "", h200_bytes},
    AllocatorMode{"default_out_of_memory", "", small_device_bytes, true, 2},
    AllocatorMode{"max_split_size", "max_split_size_mb:32", h200_bytes, false, 3},
    AllocatorMode{"max_split_size_out_of_memory",
                  "max_split_size_mb:32,max_non_split_rounding_mb:24", small_device_bytes, false,
                  4},
    AllocatorMode{"expandable", "expandable_segments:True", h200_bytes, true, 5},
    AllocatorMode{"expandable_out_of_memory", "expandable_segments:True", small_device_bytes, true,
                  6},
    AllocatorMode{"roundup_power2", "roundup_power2_divisions:4", h200_bytes, false, 7},
    AllocatorMode{"roundup_power2_by_size", "roundup_power2_divisions:[2:8,16:2,32:1,>:4]",
                  h200_bytes, false, 8},
    AllocatorMode{"large_segments", "large_segment_size_mb:64", small_device_bytes, false, 9},
    AllocatorMode{"garbage_collection",
                  "garbage_collection_threshold:0.6,per_process_memory_fraction:0.04", h200_bytes,
                  false, 10},
    AllocatorMode{"everything",
                  "expandable_segments:True,max_split_size_mb:48,roundup_power2_divisions:2,"
                  "garbage_collection_threshold:0.5,per_process_memory_fraction:0.03",
                  h200_bytes, true, 11},
};

constexpr std::int64_t trace_steps = 1'000'000, steps_between_lines = 20'000;
constexpr std::size_t most_live_blocks = 300;

}  // namespace symprof::test

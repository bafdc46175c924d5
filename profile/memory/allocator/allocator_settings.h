// The settings of PyTorch's CUDA caching allocator, and the sizes that follow from them.
//
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace symprof::profile {

constexpr std::int64_t operator""_MiB(unsigned long long count) {
  return static_cast<std::int64_t>(count) << 20;
}

/// Which of several free blocks of one size a request gets: from PyTorch 2.13 on that of the oldest
/// segment (`BlockComparatorSizeCounterAddress`), in 2.12 the one that was made first, by a split
/// or with its segment, before that the one with the lowest address, which is in the newest segment
/// of a GPU (`DeviceMemory`).
enum class EqualBlocks : std::uint8_t { oldest_segment, oldest_block, lowest_address };

/// That of the LibTorch that symprof is built with.
EqualBlocks equal_blocks_of_torch();

/// Bytes of the workspace that cuBLASLt's products have beside cuBLAS's, one for each thread and
/// stream: 1 MiB up to PyTorch 2.11, none since, as they share cuBLAS's
/// (`getCUDABlasLtWorkspaceSize` in ATen/cuda/CublasHandlePool.cpp, pytorch#175879).
std::int64_t cublaslt_workspace_bytes_of_torch();

/// What the environment variable PYTORCH_ALLOC_CONF sets, and four things that it does not; the
/// defaults are PyTorch's. Source: c10/core/AllocatorConfig.h.
struct AllocatorSettings {
  bool expandable_segments = false;
  std::int64_t max_split_size_bytes = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_non_split_rounding_bytes = 20_MiB;
  std::int64_t large_segment_bytes = 20_MiB;
  /// Steps between powers of two, one for each of 1 MiB, 2 MiB, … 32 GiB and more; 0 and 1: none.
  std::array<std::int64_t, 16> roundup_power2_divisions{};
  double garbage_collection_threshold = 0;
  /// Share of the device's memory that PyTorch may take, 0 to 1:
  /// `torch.cuda.set_per_process_memory_fraction`.
  double per_process_memory_fraction = 1;
  EqualBlocks equal_blocks = equal_blocks_of_torch();  ///< "torch:2.11" says another version …
  std::int64_t cublaslt_workspace_bytes = cublaslt_workspace_bytes_of_torch();  ///< … here, too.
  /// Of blocks that the loop asks for and gives back, all together, before the model is made: large
  /// blocks find room in their segments. A step's simulation asks for them, the allocator does not.
  /// Empty: none.
  std::vector<std::int64_t> up_front_bytes;
};

/// Reads the text of PYTORCH_ALLOC_CONF: "expandable_segments:True,max_split_size_mb:64". Throws
/// Error with the key for one that is not known or has no such value. Keys that change no size
/// (backend:native, pinned_…) are accepted.
AllocatorSettings parse_allocator_settings(std::string_view text);

constexpr std::int64_t smallest_block_bytes = 512;  ///< kMinBlockSize
constexpr std::int64_t small_limit_bytes = 1_MiB;   ///< kSmallSize: up to here, the small pool.
/// Blocks of so much or more have segments of their own (kMinLargeAlloc), multiples of that
/// (kRoundLarge).
constexpr std::int64_t own_segment_from_bytes = 10_MiB, own_segment_unit_bytes = 2_MiB;
/// What a device has that has room for everything.
constexpr std::int64_t endless_bytes = std::int64_t{1} << 58;

/// What the allocator makes of a request: the next multiple of 512, or the next division of a power
/// of two (`round_size` of c10/cuda/CUDACachingAllocator.cpp).
std::int64_t rounded_size(std::int64_t bytes, const AllocatorSettings& settings);

/// Bytes of the segment that a request of `rounded` bytes gets when no cached block serves it
/// (`get_allocation_size`): 2 MiB in the small pool, 20 MiB below 10 MiB, else whole 2 MiB.
std::int64_t segment_size(std::int64_t rounded, const AllocatorSettings& settings);

}  // namespace symprof::profile

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

/// Tie-break among free blocks of one size: since PyTorch 2.13 the block of the oldest segment
/// (`BlockComparatorSizeCounterAddress`), in 2.12 the block created first (by a split or with its
/// segment), before that the lowest address, which is in the newest segment of a GPU
/// (`DeviceMemory`).
enum class EqualBlocks : std::uint8_t { oldest_segment, oldest_block, lowest_address };

/// The tie-break of the LibTorch that symprof is built with.
EqualBlocks equal_blocks_of_torch();

/// Bytes of cuBLASLt's workspace, one per thread and stream, besides cuBLAS's: 1 MiB up to PyTorch
/// 2.11, 0 since then, because cuBLASLt shares cuBLAS's (`getCUDABlasLtWorkspaceSize` in
/// ATen/cuda/CublasHandlePool.cpp, pytorch#175879).
std::int64_t cublaslt_workspace_bytes_of_torch();

/// The settings of the environment variable PYTORCH_ALLOC_CONF, and four others; the defaults are
/// PyTorch's. Source: c10/core/AllocatorConfig.h.
struct AllocatorSettings {
  bool expandable_segments = false;
  std::int64_t max_split_size_bytes = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_non_split_rounding_bytes = 20_MiB;
  std::int64_t large_segment_bytes = 20_MiB;
  /// Steps between powers of two, one for each of 1 MiB, 2 MiB, … 32 GiB and more; 0 and 1: none.
  std::array<std::int64_t, 16> roundup_power2_divisions{};
  double garbage_collection_threshold = 0;
  /// Share of the device's memory that PyTorch may reserve, 0 to 1:
  /// `torch.cuda.set_per_process_memory_fraction`.
  double per_process_memory_fraction = 1;
  EqualBlocks equal_blocks = equal_blocks_of_torch();  ///< "torch:2.11" selects another version …
  std::int64_t cublaslt_workspace_bytes = cublaslt_workspace_bytes_of_torch();  ///< … here too.
  /// Of blocks that the loop asks for and gives back, all together, before the model is made: large
  /// blocks find room in their segments. A step's simulation asks for them, the allocator does not.
  /// Empty: none.
  std::vector<std::int64_t> up_front_bytes;

  bool operator==(const AllocatorSettings&) const = default;
};

/// Reads the text of PYTORCH_ALLOC_CONF: "expandable_segments:True,max_split_size_mb:64". Throws
/// Error that names an unknown key or a bad value's key. Keys that do not affect sizes
/// (backend:native, pinned_…) are accepted.
AllocatorSettings parse_allocator_settings(std::string_view text);

constexpr std::int64_t smallest_block_bytes = 512;  ///< kMinBlockSize
constexpr std::int64_t small_limit_bytes = 1_MiB;   ///< kSmallSize: up to here, the small pool.
/// Blocks of at least this size get their own segment (kMinLargeAlloc), rounded up to a multiple of
/// the unit (kRoundLarge).
constexpr std::int64_t own_segment_from_bytes = 10_MiB, own_segment_unit_bytes = 2_MiB;
/// Capacity of an unlimited device.
constexpr std::int64_t endless_bytes = std::int64_t{1} << 58;

/// The block size of a request: rounded up to a multiple of 512, or to the next division of a power
/// of two (`round_size` of c10/cuda/CUDACachingAllocator.cpp).
std::int64_t rounded_size(std::int64_t bytes, const AllocatorSettings& settings);

/// Bytes of the segment that a request of `rounded` bytes gets when no cached block fits
/// (`get_allocation_size`): 2 MiB in the small pool, 20 MiB below 10 MiB, else whole 2 MiB.
std::int64_t segment_size(std::int64_t rounded, const AllocatorSettings& settings);

}  // namespace symprof::profile

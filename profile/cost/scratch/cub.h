// Temporary storage of cub's device-wide algorithms as in CUDA toolkit 13.0 and instantiated by
// PyTorch (ATen/cuda/cub.cuh). Tile sizes are the tunings for compute capability 9.0.
#pragma once

#include <cstdint>

#include "base/device_spec.h"
#include "base/tensor_spec.h"

namespace symprof::profile::cub {

/// One state per tile of items, for decoupled look-back (tile_state_allocation_size in
/// cub/agent/single_pass_scan_operators.cuh).
struct TileState {
  std::int64_t items = 0;              ///< Per tile.
  std::int64_t description_bytes = 0;  ///< Per state.
  std::int64_t payload_bytes = 0;      ///< Per partial sum that does not fit into the description.
};

/// The states of all tiles of `items`.
std::int64_t bytes_of(const TileState& state, std::int64_t items);

/// DeviceScan of `element_bytes` each: half precision, four or eight bytes.
std::int64_t scan_bytes(std::int64_t items, std::int64_t element_bytes);
/// DeviceScan of 32-bit flags that writes 64-bit sums (at::cuda::cub::inclusive_sum_truncating).
std::int64_t scan_of_flags_bytes(std::int64_t items);
/// DeviceSelect::Flagged, which writes 64-bit positions.
std::int64_t select_bytes(std::int64_t items);
/// DeviceSelect::Unique.
std::int64_t unique_bytes(std::int64_t items, DType dtype);
/// DeviceRunLengthEncode::Encode.
std::int64_t run_length_bytes(std::int64_t items);
/// DeviceSelect::UniqueByKey.
std::int64_t unique_by_key_bytes(std::int64_t items);
/// DeviceScan of runs of equal keys of 32 or 64 bits.
std::int64_t scan_by_key_bytes(std::int64_t items, std::int64_t key_bytes);

/// DeviceReduce of 32-bit counts. One accumulator per resident block, if registers allow.
std::int64_t count_bytes(std::int64_t items, const DeviceSpec& device);

struct Sort {
  std::int64_t items = 0, key_bytes = 0, value_bytes = 0;
  std::int64_t bits = 0;  ///< Key bits to sort by; 0: all.
  /// Floating-point keys; 4-byte keys without values have their own tuning.
  bool is_floating = false;
};

/// Bits of keys from 0 to `most` (at::cuda::cub::get_num_bits).
std::int64_t bits_up_to(std::int64_t most);

/// DeviceRadixSort, keys alone or pairs (InvokeOnesweep in
/// cub/device/dispatch/dispatch_radix_sort.cuh).
std::int64_t radix_sort_bytes(const Sort& sort);
/// DeviceSegmentedRadixSort of pairs.
std::int64_t segmented_sort_bytes(const Sort& sort);

/// Thrust's comparison sort, unique, unique_by_key and inclusive_scan of 64-bit indices
/// (thrust/system/cuda/detail).
std::int64_t merge_sort_bytes(std::int64_t items);
std::int64_t thrust_unique_bytes(std::int64_t items);
std::int64_t thrust_unique_by_key_bytes(std::int64_t items);
std::int64_t thrust_scan_bytes(std::int64_t items);
/// Bytes of an algorithm without temporary storage: alignment only.
std::int64_t no_storage_bytes();

}  // namespace symprof::profile::cub

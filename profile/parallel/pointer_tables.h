// The tables of pointers and block numbers that PyTorch's CUDA kernels for FSDP2's copies allocate
// at launch (aten/src/ATen/native/cuda/TensorShape.cu).
#pragma once

#include <cstdint>
#include <span>

#include "base/device_spec.h"

namespace symprof::profile {

/// Bytes of the table of split_with_sizes_copy
/// (`split_with_sizes_copy_out_cuda_contiguous_no_cast`) for the copy-out of an all-gather over
/// `ranks` into parameters with `shard_bytes` per rank.
std::int64_t copy_out_table_bytes(std::span<const std::int64_t> shard_bytes, std::int64_t ranks,
                                  const DeviceSpec& device);

/// Bytes of the table of _chunk_cat (`get_chunk_cat_metadata`) for the copy of gradients into the
/// input of a reduce-scatter, with `shard_bytes` per rank each.
std::int64_t copy_in_table_bytes(std::span<const std::int64_t> shard_bytes);

}  // namespace symprof::profile

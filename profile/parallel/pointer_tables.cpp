#include "profile/parallel/pointer_tables.h"

#include <algorithm>
#include <cmath>

namespace symprof::profile {
namespace {

// BLOCK_SIZE and BYTES_PER_THREAD of TensorShape.cu.
constexpr std::int64_t threads_per_block = 128, bytes_per_thread = 16;
constexpr std::int64_t bytes_per_block = threads_per_block * bytes_per_thread;
constexpr std::int64_t word_bytes = 8;

std::int64_t rounded_up_quotient(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

/// CUDA C++ Programming Guide, technical specifications by compute capability.
std::int64_t threads_per_multiprocessor(const DeviceSpec& device) {
  if (device.compute_major == 7 && device.compute_minor == 5) return 1024;
  const bool is_for_graphics =
      (device.compute_major == 8 && device.compute_minor != 0) || device.compute_major == 12;
  return is_for_graphics ? 1536 : 2048;
}

std::int64_t blocks_of(std::span<const std::int64_t> pieces, std::int64_t bytes_each) {
  std::int64_t blocks = 0;
  for (const std::int64_t bytes : pieces) blocks += rounded_up_quotient(bytes, bytes_each);
  return blocks;
}

}  // namespace

std::int64_t copy_out_table_bytes(std::span<const std::int64_t> shard_bytes, std::int64_t ranks,
                                  const DeviceSpec& device) {
  const std::int64_t most_blocks =
      device.multiprocessors * threads_per_multiprocessor(device) / threads_per_block * 2;
  const std::int64_t factor =
      std::max<std::int64_t>(rounded_up_quotient(blocks_of(shard_bytes, bytes_per_block) * ranks,
                                                 std::max<std::int64_t>(most_blocks, 1)),
                             1);
  const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(factor))));
  const std::int64_t iterations = rounded_up_quotient(factor, std::min(root, ranks));
  const auto count = static_cast<std::int64_t>(shard_bytes.size());
  // Addresses of destinations and sources, sizes, one number per block, prefix sums.
  const std::int64_t words =
      3 * count + blocks_of(shard_bytes, bytes_per_block * iterations) + count + 1;
  return words * word_bytes;
}

std::int64_t copy_in_table_bytes(std::span<const std::int64_t> shard_bytes) {
  const auto count = static_cast<std::int64_t>(shard_bytes.size());
  // Addresses, one number per block, two prefix sums, three sizes.
  const std::int64_t words =
      count + blocks_of(shard_bytes, bytes_per_block) + 2 * (count + 1) + 3 * count;
  return words * word_bytes;
}

}  // namespace symprof::profile

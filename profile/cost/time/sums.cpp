#include "profile/cost/time/sums.h"

#include <algorithm>
#include <bit>

#include "profile/cost/multiprocessor.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

/// setReduceConfig and ReduceConfig of ATen/native/cuda/Reduce.cuh.
constexpr std::int64_t most_threads = 512, warp = 32, fewest_values = 16, most_values = 256;

std::int64_t up(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

std::int64_t power_of_two(std::int64_t size) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)));
}

struct Grid {
  std::int64_t blocks = 1;
  std::int64_t waits = 0;  ///< Partial sums added by a thread of the last block.
};

Grid grid_of(std::int64_t results, std::int64_t length, const DeviceSpec& device) {
  const std::int64_t vector = results % 4 == 0 ? 4 : results % 2 == 0 ? 2 : 1;
  const std::int64_t columns = results / vector, threads = most_threads / vector;
  const std::int64_t widest = columns < threads ? power_of_two(columns) : threads;
  const std::int64_t highest = length < threads ? power_of_two(length) : threads;
  const std::int64_t height = std::min(highest, threads / std::min(widest, warp));
  const std::int64_t width = std::min(widest, threads / height);
  if (length < std::min(height * fewest_values, most_values)) return {up(columns, width * height)};
  const std::int64_t values = up(length, height), blocks = up(columns, width);
  const std::int64_t wanted =
      device.multiprocessors * (threads_of_multiprocessor(device) / (width * height));
  if (values < most_values || blocks > wanted) return {blocks};
  const std::int64_t parts =
      std::max(std::min(up(wanted, blocks), up(values, fewest_values)), up(values, most_values));
  return {blocks * parts, parts > 1 ? up(parts, height) : 0};
}

}  // namespace

std::int64_t bytes_of_sum(std::int64_t numbers, std::int64_t number_bytes,
                          const DeviceSpec& device) {
  const std::int64_t read = numbers * number_bytes;
  return number_bytes < 4 ? std::max(read, bytes_at_rate(device, numbers, "sum.halves_per_clock"))
                          : read;
}

Kernel sum_across(std::int64_t results, std::int64_t length, std::int64_t bytes_read,
                  const DeviceSpec& device) {
  const Grid grid = grid_of(results, length, device);
  // A thread adds up the partial sums of other blocks one by one.
  const double waits = clocks_of(device, "sum.wait") * static_cast<double>(grid.waits);
  const double clocks = grid.waits > 0 ? clocks_of(device, "sum.sharing") + waits : 0;
  const std::int64_t waited = bytes_of_clocks(device, clocks);
  return {TimeClass::reduction,
          RowWork{grid.blocks, results * length / grid.blocks, bytes_read + waited}};
}

Kernel sum_apart(std::int64_t results, std::int64_t length, std::int64_t bytes_read,
                 const DeviceSpec& device) {
  const std::int64_t height = std::min(power_of_two(results), most_threads / warp);
  std::int64_t threads = most_threads / height, values = up(length, threads);
  const bool shares_block = values < std::min(height * fewest_values, most_values);
  if (!shares_block) threads = most_threads, values = up(length, threads);
  const std::int64_t parts = values < most_values ? 1 : up(values, fewest_values);
  // The places of numbers that lie apart are worked out one by one.
  const double waited =
      clocks_of(device, "sum.number_apart") * static_cast<double>(up(values, parts));
  const std::int64_t bytes =
      std::max({bytes_read, bytes_of_clocks(device, waited),
                bytes_at_rate(device, results * length, "sum.numbers_apart_per_clock")});
  return {TimeClass::reduction, RowWork{results * parts, length / parts, bytes}};
}

}  // namespace symprof::profile

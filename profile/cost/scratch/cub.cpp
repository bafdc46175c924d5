#include "profile/cost/scratch/cub.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "base/checked.h"
#include "base/rounding.h"
#include "profile/cost/multiprocessor.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile::cub {
namespace {

constexpr std::int64_t alignment = 256;

/// Bytes of several arrays in one block, each aligned, plus padding to align the first
/// (AliasTemporaries in cub/util_temporary_storage.cuh).
std::int64_t in_one_block(std::initializer_list<std::int64_t> arrays) {
  Count bytes = alignment - 1;
  for (const std::int64_t array : arrays) bytes += round_up(array, alignment);
  return bytes.value();
}

/// Items per block in the passes of a radix sort, by the widths of keys and values. The tuning is
/// internal to the compiled library; these values were observed with PyTorch 2.13.
std::int64_t items_of_sorting_block(const Sort& sort) {
  const bool has_values = sort.value_bytes != 0;
  switch (sort.key_bytes) {
    case 1:
      return has_values ? 3456 : 9728;
    case 2:
      return has_values ? 5632 : 9728;
    case 4:
      if (!has_values) return sort.is_floating ? 6912 : 7296;
      return sort.value_bytes == 4 ? 6528 : 5376;
    default:
      return has_values ? 4608 : 5760;
  }
}

/// Items that a single block sorts: 19 for each of 256 threads, fewer if wider than four bytes
/// (RegBoundScaling in cub/util_arch.cuh).
std::int64_t items_of_only_block(const Sort& sort) {
  constexpr std::int64_t threads = 256, items_of_four_bytes = 19;
  return threads *
         (items_of_four_bytes * 4 / std::max({std::int64_t{4}, sort.key_bytes, sort.value_bytes}));
}

std::int64_t items_of_unique_tile(DType dtype) {
  if (is_half(dtype)) return 1280;
  if (dtype == DType::boolean) return 6528;
  switch (element_bytes(dtype)) {
    case 1:
    case 2:
      return 5632;
    case 4:
      return 6528;
    default:
      return 4224;
  }
}

}  // namespace

std::int64_t bytes_of(const TileState& state, std::int64_t items) {
  constexpr std::int64_t padding = 32;
  const std::int64_t states = divide_up(items, state.items) + padding;
  const std::int64_t payload = states * state.payload_bytes;
  return in_one_block({in_one_block({states * state.description_bytes, payload, payload})});
}

std::int64_t scan_bytes(std::int64_t items, std::int64_t element_bytes) {
  if (element_bytes <= 2)
    return bytes_of({.items = 3840, .description_bytes = 4, .payload_bytes = 2}, items);
  if (element_bytes == 4) return bytes_of({.items = 1920, .description_bytes = 8}, items);
  return bytes_of({.items = 896, .description_bytes = 16}, items);
}

std::int64_t select_bytes(std::int64_t items) {
  return bytes_of({.items = 4224, .description_bytes = 8}, items);
}

std::int64_t scan_of_flags_bytes(std::int64_t items) {
  return bytes_of({.items = 3072, .description_bytes = 8}, items);
}

std::int64_t unique_bytes(std::int64_t items, DType dtype) {
  return bytes_of({.items = items_of_unique_tile(dtype), .description_bytes = 8}, items);
}

std::int64_t run_length_bytes(std::int64_t items) {
  constexpr std::int64_t tile = 768, padding = 32, state_bytes = 16;
  return in_one_block({(divide_up(items, tile) + padding) * state_bytes});
}

std::int64_t unique_by_key_bytes(std::int64_t items) {
  return bytes_of({.items = 4928, .description_bytes = 16}, items);
}

std::int64_t scan_by_key_bytes(std::int64_t items, std::int64_t key_bytes) {
  constexpr std::int64_t padding = 32, state_bytes = 16;
  const std::int64_t tiles = divide_up(items, key_bytes == 4 ? 4032 : 2464);
  // The key before each tile is kept beside the states.
  return in_one_block({(tiles + padding) * state_bytes, (tiles + 1) * key_bytes});
}

std::int64_t count_bytes(std::int64_t items, const DeviceSpec& device) {
  constexpr std::int64_t threads = 256, items_of_block = 4096;
  constexpr std::int64_t blocks_for_each_place = 5, count = 4;
  if (items <= items_of_block) return 1;
  const std::int64_t places =
      device.multiprocessors * (threads_of_multiprocessor(device) / threads);
  return in_one_block({places * blocks_for_each_place * count});
}

std::int64_t bits_up_to(std::int64_t most) {
  const auto bits = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(most)));
  return std::max<std::int64_t>(bits, 1);
}

std::int64_t radix_sort_bytes(const Sort& sort) {
  constexpr std::int64_t digit_bits = 8, digits = 256;
  constexpr std::int64_t offset_bytes = 8, counter_bytes = 4, largest_portion = (1 << 28) - 1;
  if (sort.items <= items_of_only_block(sort)) return 1;
  const std::int64_t block = items_of_sorting_block(sort);
  const std::int64_t portion = largest_portion / block * block;
  const std::int64_t portions = divide_up(sort.items, portion);
  const std::int64_t passes =
      divide_up(sort.bits == 0 ? 8 * sort.key_bytes : sort.bits, digit_bits);
  const std::int64_t blocks = divide_up(std::min(sort.items, portion), block);
  const std::int64_t copied = passes <= 1 ? 0 : sort.items;
  return in_one_block({portions * passes * digits * offset_bytes, blocks * digits * counter_bytes,
                       copied * sort.key_bytes, copied * sort.value_bytes,
                       portions * passes * counter_bytes});
}

std::int64_t segmented_sort_bytes(const Sort& sort) {
  return in_one_block({sort.items * sort.key_bytes, sort.items * sort.value_bytes});
}

std::int64_t merge_sort_bytes(std::int64_t items) {
  constexpr std::int64_t tile = 2048, partition_bytes = 4, index_bytes = 8;
  return in_one_block({(divide_up(items, tile) + 1) * partition_bytes, items * index_bytes});
}

std::int64_t thrust_unique_bytes(std::int64_t items) {
  return bytes_of({.items = 640, .description_bytes = 16}, items) + alignment;
}

std::int64_t thrust_unique_by_key_bytes(std::int64_t items) {
  return bytes_of({.items = 4928, .description_bytes = 8}, items) + 2 * alignment;
}

std::int64_t thrust_scan_bytes(std::int64_t items) {
  return bytes_of({.items = 2688, .description_bytes = 16}, items);
}

std::int64_t no_storage_bytes() { return in_one_block({}); }

}  // namespace symprof::profile::cub

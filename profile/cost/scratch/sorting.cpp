// Sorting, top-k and order statistics. Sources: aten/src/ATen/native/cuda/Sort.{cu,cpp},
// TensorTopK.cu, Sorting.cpp, TensorModeKernel.cpp.
#include "profile/cost/scratch/sorting.h"

#include <algorithm>
#include <utility>

#include "base/rounding.h"
#include "profile/cost/scratch/cub.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {

std::size_t dimension_of(const TensorSpec& tensor, std::int64_t named) {
  const auto rank = static_cast<std::int64_t>(tensor.sizes.size());
  return static_cast<std::size_t>(named < 0 ? named + std::max<std::int64_t>(rank, 1) : named);
}

namespace {

std::int64_t size_of(const TensorSpec& tensor, std::size_t dimension) {
  return tensor.sizes.empty() ? 1 : tensor.sizes[dimension];
}

/// Keys of few segments are sorted together, with their segment indices, and then back by segment
/// (segmented_sort_pairs_by_full_sort).
void add_full_sort(Scratch& result, std::int64_t elements, std::int64_t key,
                   std::int64_t segments) {
  result.take(Count(elements) * long_bytes);  // Index and segment.
  result.take(Count(elements) * long_bytes);  // Both, sorted.
  const std::size_t keys = result.take(elements * key);
  const std::size_t sort = result.take(
      cub::radix_sort_bytes({.items = elements, .key_bytes = key, .value_bytes = long_bytes}));
  result.give_back(sort);
  result.give_back(keys);
  result.give_back(result.take(cub::radix_sort_bytes(
      {.items = elements, .key_bytes = long_bytes, .bits = cub::bits_up_to(segments - 1)})));
}

/// Rows of more than 4096 (launch_stable_sort_kernel).
void add_large_sort(Scratch& result, std::int64_t elements, std::int64_t row, std::int64_t key) {
  constexpr std::int64_t few_segments = 128, long_row = 1000000;
  const std::int64_t segments = elements / row;
  if (segments > 1 && row < long_row && segments < few_segments)
    return add_full_sort(result, elements, key, segments);
  if (segments > 1 && row < long_row) {
    result.take(Count(elements) * long_bytes);
    result.take(cub::segmented_sort_bytes(
        {.items = elements, .key_bytes = key, .value_bytes = long_bytes}));
    return;
  }
  result.take(Count(row) * long_bytes);
  for (std::int64_t i = 0; i < segments; ++i)
    result.give_back(result.take(
        cub::radix_sort_bytes({.items = row, .key_bytes = key, .value_bytes = long_bytes})));
}

}  // namespace

void add_sort(Scratch& result, const TensorSpec& self, std::size_t dimension) {
  constexpr std::int64_t most_in_place = 4096, most_elements = (std::int64_t{1} << 31) - 1;
  if (self.numel() == 0 || self.sizes.empty()) return;
  const std::int64_t row = self.sizes[dimension], elements = self.numel();
  if (row <= most_in_place) {
    result.take(Count(row) * long_bytes);  // Its indices before the sort.
    return;
  }
  if (elements > most_elements) {
    result.is_incomplete = true;
    return;
  }
  if (!(is_row_major(self) &&
        dimension + 1 == self.sizes.size())) {  // Transposed to contiguous rows.
    result.take(self.bytes());
    result.take(self.bytes());
    result.take(Count(elements) * long_bytes);
  }
  add_large_sort(result, elements, row, element_bytes(self.dtype));
}

SortedRow::SortedRow(Scratch& result, const TensorSpec& row)
    : values(result.take(row.bytes())), indices(result.take(Count(row.numel()) * long_bytes)) {
  add_sort(result, row, 0);
  result.give_back_from(indices + 1);
}

namespace {

/// sort(self, dim, descending) and sort.stable(self, *, stable, dim, descending): the recording
/// drops the overload's name, so they differ by the number of arguments.
Scratch sort(const Call& call, const DeviceSpec&) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  const bool is_stable = call.integer(3, 0, -1) != -1;
  Scratch result;
  add_sort(result, *self, dimension_of(*self, call.integer(is_stable ? 2 : 1, 0, -1)));
  return result;
}

/// True if several blocks search one row (should_use_multiblock).
bool shares_rows(std::int64_t rows, std::int64_t row) {
  struct Range {
    std::int64_t most_rows, least_row;
  };
  constexpr Range ranges[] = {{20, 20000}, {40, 10000}, {80, 8000},
                              {199, 5000}, {799, 3000}, {4000, 800}};
  for (const Range& range : ranges)
    if (rows <= range.most_rows) return row >= range.least_row;
  return row >= 400;
}

}  // namespace

void add_search_of_largest(Scratch& result, const TensorSpec& self, std::size_t dimension,
                           const DeviceSpec& device) {
  constexpr std::int64_t threads = 256, registers = 65536, registers_of_thread = 40, digits = 256;
  if (self.numel() == 0 || self.sizes.empty()) return;
  const std::int64_t row = size_of(self, dimension), rows = self.numel() / row;
  if (!shares_rows(rows, row)) return;
  const std::int64_t blocks_at_once =
      device.multiprocessors * (registers / (registers_of_thread * threads));
  const std::int64_t items =
      std::clamp<std::int64_t>(divide_up(self.numel(), blocks_at_once * threads), 4, 64);
  const std::int64_t blocks = rows * divide_up(row, items * threads);
  const std::int64_t element = element_bytes(self.dtype),
                     pattern = std::max<std::int64_t>(element, 4);
  for (const std::int64_t bytes : {rows * element, rows * 2 * 4, rows * 2 * pattern,
                                   blocks * digits * 2, rows * digits * 4, blocks * 4, blocks * 4})
    result.take(bytes);
  for (int i = 0; i < 2; ++i) result.give_back(result.take(cub::scan_by_key_bytes(blocks, 4)));
}

namespace {

/// topk(self, k, dim, largest, sorted)
Scratch topk(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t most_sorted = 4096;
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  if (call.integer(4, 0, 1) != 0 && call.integer(1, 0, 0) > most_sorted)
    return {.is_incomplete = self->numel() > 0 && !self->sizes.empty()};
  Scratch result;
  if (!is_row_major(*self)) result.take(self->bytes());
  add_search_of_largest(result, *self, dimension_of(*self, call.integer(2, 0, -1)), device);
  return result;
}

/// All elements in one row, sorted; only the values stay.
void add_sorted_values(Scratch& result, const TensorSpec& self) {
  const bool is_copied = !is_row_major(self);
  if (is_copied) result.take(self.bytes());
  const SortedRow sorted(result, row_major(self.dtype, {self.numel()}));
  result.give_back(sorted.indices);
  if (is_copied) result.give_back(0);
}

/// median(self, dim) searches each row, copied if not row-major.
Scratch along_dimension(const TensorSpec& self) {
  Scratch result;
  if (!is_row_major(self)) result.take(self.bytes());
  result.make_outputs();
  return result;
}

/// (self), (self, dim): for all elements, `add_place` adds the scratch for finding the middle of
/// the sorted values.
template <class AddPlace>
Scratch middle(const Call& call, AddPlace add_place) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  if (call.output_count() == 2) return along_dimension(*self);
  if (self->numel() == 0) return {};
  Scratch result;
  add_sorted_values(result, *self);
  add_place(result, self->numel());
  result.make_outputs();
  return result;
}

/// The middle of all values, unless the last is NaN.
Scratch median(const Call& call, const DeviceSpec&) {
  return middle(call, [](Scratch& result, std::int64_t) { result.take(1); });
}

/// nanmedian: the middle of the values that are not NaN.
void add_place_among_numbers(Scratch& result, std::int64_t elements, const DeviceSpec& device) {
  const std::size_t are_nan = result.take(elements);
  const std::size_t count = result.take(long_bytes);
  const TensorSpec converted = row_major(DType::int64, {elements});
  const std::size_t copy = result.take(converted.bytes());
  add_reduction(result, sum_of(converted, {true}), device);
  result.give_back(copy);
  const std::size_t others = result.take(long_bytes), half = result.take(float_bytes);
  result.take(long_bytes);  // The index of the middle.
  for (const std::size_t block : {half, others, count, are_nan}) result.give_back(block);
}

Scratch nanmedian(const Call& call, const DeviceSpec& device) {
  return middle(call, [&](Scratch& result, std::int64_t elements) {
    add_place_among_numbers(result, elements, device);
  });
}

Scratch kth_value(const Call& call, const DeviceSpec&) {
  const TensorSpec* self = call.input(0);
  return self == nullptr ? Scratch{.is_incomplete = true} : along_dimension(*self);
}

/// mode(self, dim): contiguous rows; long ones use Thrust.
Scratch mode(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t longest = 2048;
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  if (self->sizes.empty() || self->numel() == 0) return result;
  const std::size_t dimension = dimension_of(*self, call.integer(1, 0, -1));
  if (self->sizes[dimension] == 1) return result;
  TensorSpec rows = *self;
  std::swap(rows.sizes[dimension], rows.sizes.back());
  std::swap(rows.strides[dimension], rows.strides.back());
  if (!is_row_major(rows)) result.take(rows.bytes());
  result.is_incomplete = rows.sizes.back() > longest;
  return result;
}

constexpr ScratchRule sorting_rows[] = {
    {"aten::sort", sort},           {"aten::topk", topk},          {"aten::median", median},
    {"aten::nanmedian", nanmedian}, {"aten::kthvalue", kth_value}, {"aten::mode", mode},
};

}  // namespace

ScratchRules sorting_scratch() { return sorting_rows; }

}  // namespace symprof::profile

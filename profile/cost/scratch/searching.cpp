// Elements that are looked for: by order, by value, by how often they come. Sources:
// aten/src/ATen/native/cuda/{Sorting,TensorModeKernel}.cpp, {Bucketization,SummaryOps}.cu,
// aten/src/ATen/native/{BucketizationUtils.h,TensorCompare.cpp}.
#include <algorithm>
#include <cmath>

#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/sorting.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// A row, sorted: its values and where each came from, which stay.
struct SortedRow {
  std::size_t values, indices;

  SortedRow(Scratch& result, const TensorSpec& row)
      : values(result.take(row.bytes())), indices(result.take(Count(row.numel()) * long_bytes)) {
    add_sort(result, row, 0);
    result.give_back_from(indices + 1);
  }
};

/// All elements in one row, sorted; only the values stay.
void add_sorted_values(Scratch& result, const TensorSpec& self) {
  const bool is_copied = !is_row_major(self);
  if (is_copied) result.take(self.bytes());
  const SortedRow sorted(result, row_major(self.dtype, {self.numel()}));
  result.give_back(sorted.indices);
  if (is_copied) result.give_back(0);
}

/// median(self, dim) looks at each row as it lies.
Scratch along_dimension(const TensorSpec& self) {
  Scratch result;
  if (!is_row_major(self)) result.take(self.bytes());
  result.make_outputs();
  return result;
}

/// (self), (self, dim): of all, `add_place` is what it takes to find the middle of the sorted
/// values.
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

/// The middle of all, unless the last one is NaN.
Scratch median(const Call& call, const DeviceSpec&) {
  return middle(call, [](Scratch& result, std::int64_t) { result.take(1); });
}

/// As many as are numbers have a middle.
void add_place_among_numbers(Scratch& result, std::int64_t elements, const DeviceSpec& device) {
  const std::size_t are_nan = result.take(elements);
  const std::size_t count = result.take(long_bytes);
  const TensorSpec converted = row_major(DType::int64, {elements});
  const std::size_t copy = result.take(converted.bytes());
  add_reduction(result, sum_of(converted, {true}), device);
  result.give_back(copy);
  const std::size_t others = result.take(long_bytes), half = result.take(float_bytes);
  result.take(long_bytes);  // The place of the middle.
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

/// mode(self, dim): rows that lie together. Long ones are Thrust's.
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

/// (self, weights, minlength)
Scratch bincount(const Call& call, const DeviceSpec& device) {
  const TensorSpec *self = call.input_at(0), *weights = call.input_at(1);
  if (self == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (weights != nullptr && weights->dtype != DType::float32 && weights->dtype != DType::float64)
    result.take(Count(weights->numel()) * element_bytes(DType::float64));
  if (self->numel() > 0) {
    result.take(element_bytes(self->dtype));  // The lowest, the highest.
    result.take(element_bytes(self->dtype));
    add_reduction(result, extrema_of(*self), device);
  }
  result.make_outputs();
  return result;
}

/// c10::promoteTypes of real numbers.
DType promoted(DType a, DType b) {
  if (is_floating_point(a) != is_floating_point(b)) return is_floating_point(a) ? a : b;
  if (a == b || element_bytes(a) > element_bytes(b)) return a;
  if (element_bytes(b) > element_bytes(a)) return b;
  if (is_half(a)) return DType::float32;
  if (a == DType::boolean) return b;
  return b == DType::boolean ? a : DType::int16;
}

/// A number has no say among others of its kind (at::native::result_type).
DType compared_as(const TensorSpec& boundaries, const TensorSpec& input, bool is_number) {
  if (!is_number && !input.sizes.empty()) return promoted(boundaries.dtype, input.dtype);
  if (is_floating_point(boundaries.dtype)) return boundaries.dtype;
  if (!is_floating_point(input.dtype)) return boundaries.dtype;
  return is_number ? DType::float32 : input.dtype;
}

/// Copies of what does not lie row by row, and of what is compared in another type
/// (searchsorted_maybe_trim_input_tensors).
void add_compared(Scratch& result, const TensorSpec& boundaries, const TensorSpec& input,
                  const TensorSpec* sorter, bool is_number) {
  for (const TensorSpec* tensor : {&input, &boundaries, sorter})
    if (tensor != nullptr && !is_row_major(*tensor)) result.take(tensor->bytes());
  const DType common = compared_as(boundaries, input, is_number);
  for (const TensorSpec* tensor : {&input, &boundaries})
    if (tensor->dtype != common) result.take(Count(tensor->numel()) * element_bytes(common));
}

/// searchsorted(sorted_sequence, self, …, sorter): the sorter's extremes are checked. A number
/// becomes a tensor.
Scratch search_sorted(const Call& call, const DeviceSpec& device) {
  const TensorSpec *boundaries = call.input_at(0), *input = call.input_at(1),
                   *sorter = call.input_at(5);
  if (boundaries == nullptr) return {.is_incomplete = true};
  Scratch result;
  const bool is_whole = call.integer(1, 0, 0) != 0 || call.integer(1, 0, 1) == 0;
  const TensorSpec number = row_major(is_whole ? DType::int64 : DType::float64, {});
  if (input == nullptr) result.take(number.bytes());
  if (sorter != nullptr && sorter->numel() > 0) {
    const std::size_t lowest = result.take(long_bytes), highest = result.take(long_bytes);
    const std::size_t first = result.blocks.size();
    if (!is_row_major(*sorter)) result.take(sorter->bytes());
    const bool is_copied = result.blocks.size() > first;
    add_reduction(result, extrema_of(row_major(DType::int64, sorter->sizes)), device);
    if (is_copied) result.give_back(first);
    result.give_back(lowest);
    result.give_back(highest);
  }
  result.make_outputs();
  const TensorSpec& looked_for = input == nullptr ? number : *input;
  if (looked_for.numel() > 0)
    add_compared(result, *boundaries, looked_for, sorter, input == nullptr);
  return result;
}

/// bucketize(self, boundaries)
Scratch bucketize(const Call& call, const DeviceSpec&) {
  const TensorSpec *input = call.input_at(0), *boundaries = call.input_at(1);
  if (boundaries == nullptr) return {.is_incomplete = true};
  Scratch result;
  const bool is_whole = call.integer(0, 0, 0) != 0 || call.integer(0, 0, 1) == 0;
  const TensorSpec number = row_major(is_whole ? DType::int64 : DType::float64, {});
  if (input == nullptr) result.take(number.bytes());
  result.make_outputs();
  const TensorSpec& looked_for = input == nullptr ? number : *input;
  if (looked_for.numel() > 0)
    add_compared(result, *boundaries, looked_for, nullptr, input == nullptr);
  return result;
}

/// Each element is compared with each that is looked for (isin_default).
void add_comparisons(Scratch& result, const TensorSpec& elements, std::int64_t tests,
                     const DeviceSpec& device) {
  TensorSpec pairs = row_major(DType::boolean, elements.sizes);
  pairs.sizes.push_back(tests);
  pairs = row_major(DType::boolean, pairs.sizes);
  result.take(pairs.bytes());
  result.take(elements.numel());
  std::vector<bool> is_reduced(pairs.sizes.size());
  is_reduced.back() = true;
  add_reduction(result, truth_of(pairs, is_reduced), device);
}

/// (elements, test_elements, assume_unique, invert). Many are sorted; without repetitions, how many
/// there are is known to the data.
Scratch is_in(const Call& call, const DeviceSpec& device) {
  const TensorSpec *elements = call.input_at(0), *tests = call.input_at(1);
  if (elements == nullptr || tests == nullptr) return {};
  Scratch result;
  result.make_outputs();
  if (elements->numel() == 0) return result;
  const double few = 10.0 * std::pow(static_cast<double>(elements->numel()), 0.145);
  if (tests->numel() < static_cast<std::int64_t>(few)) {
    add_comparisons(result, *elements, tests->numel(), device);
    return result;
  }
  if (call.integer(2, 0, 0) == 0) return {.is_incomplete = true};
  const std::int64_t all = elements->numel() + tests->numel();
  const TensorSpec row = row_major(promoted(elements->dtype, tests->dtype), {all});
  for (const TensorSpec* tensor : {elements, tests})
    if (!is_row_major(*tensor)) result.take(tensor->bytes());
  result.take(row.bytes());
  const SortedRow sorted(result, row);
  const std::size_t are_repeated = result.take(all);
  result.give_back(result.take(all - 1));
  const std::size_t mask = result.take(all);
  for (const std::size_t block : {mask, are_repeated}) result.give_back(block);
  return result;
}

constexpr ScratchRule searching_rows[] = {
    {"aten::median", median},       {"aten::nanmedian", nanmedian},
    {"aten::kthvalue", kth_value},  {"aten::mode", mode},
    {"aten::bincount", bincount},   {"aten::searchsorted", search_sorted},
    {"aten::bucketize", bucketize}, {"aten::isin", is_in},
};

}  // namespace

ScratchRules searching_scratch() { return searching_rows; }

}  // namespace symprof::profile

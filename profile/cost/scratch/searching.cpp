// Searches. Sources: aten/src/ATen/native/cuda/Bucketization.cu,
// aten/src/ATen/native/{BucketizationUtils.h,TensorCompare.cpp}.
#include <cmath>

#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/sorting.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// The dtype of the comparison: a scalar does not promote tensors of its category
/// (at::native::result_type).
DType compared_as(const TensorSpec& boundaries, const TensorSpec& input, bool is_number) {
  if (!is_number && !input.sizes.empty()) return promoted(boundaries.dtype, input.dtype);
  if (is_floating_point(boundaries.dtype)) return boundaries.dtype;
  if (!is_floating_point(input.dtype)) return boundaries.dtype;
  return is_number ? DType::float32 : input.dtype;
}

/// Copies of tensors that are not row-major, and of those compared in another dtype
/// (searchsorted_maybe_trim_input_tensors).
void add_compared(Scratch& result, const TensorSpec& boundaries, const TensorSpec& input,
                  const TensorSpec* sorter, bool is_number) {
  for (const TensorSpec* tensor : {&input, &boundaries, sorter})
    if (tensor != nullptr && !is_row_major(*tensor)) result.take(tensor->bytes());
  const DType common = compared_as(boundaries, input, is_number);
  for (const TensorSpec* tensor : {&input, &boundaries})
    if (tensor->dtype != common) result.take(Count(tensor->numel()) * element_bytes(common));
}

/// searchsorted(sorted_sequence, self, …, sorter): the sorter's range is checked. A scalar becomes
/// a tensor.
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

/// Each element is compared with each test element (isin_default).
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

/// (elements, test_elements, assume_unique, invert). Many test elements are sorted and made unique;
/// their number then depends on data.
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
    {"aten::searchsorted", search_sorted},
    {"aten::bucketize", bucketize},
    {"aten::isin", is_in},
};

}  // namespace

ScratchRules searching_scratch() { return searching_rows; }

}  // namespace symprof::profile

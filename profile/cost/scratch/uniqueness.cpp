// Unique elements of a tensor. Sources: aten/src/ATen/native/cuda/UniqueCub.cu, Unique.cu. Outputs
// are allocated for all elements, and then shrunk to the unique ones.
#include <limits>
#include <optional>
#include <utility>

#include "profile/cost/scratch/cub.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/sorting.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t flag_bytes = 4;

struct Wanted {
  bool inverse, counts;
};

/// Equal elements are adjacent: runs are counted, or their first elements selected
/// (compute_unique). The outputs are allocated between these blocks.
void add_runs(Scratch& result, std::int64_t count, DType dtype, Wanted wanted,
              bool is_consecutive) {
  result.make_outputs();
  if (wanted.inverse) {
    const std::size_t places =
        result.take(Count(count) * (is_consecutive ? flag_bytes : long_bytes));
    result.give_back(result.take(cub::scan_of_flags_bytes(count)));
    result.give_back(places);
  }
  result.take(long_bytes);  // Number of runs.
  result.take(wanted.counts ? cub::run_length_bytes(count) : cub::unique_bytes(count, dtype));
}

/// Counts true and false; the counts are allocated even if they are no output.
void add_truth_values(Scratch& result, const TensorSpec& self, bool has_counts,
                      const DeviceSpec& device) {
  result.take(flag_bytes);
  result.give_back(result.take(cub::count_bytes(self.numel(), device)));
  result.make_outputs();
  if (!has_counts) result.take(2 * long_bytes);
}

Scratch sorted(const TensorSpec& self, Wanted wanted, bool has_counts, const DeviceSpec& device) {
  const std::int64_t count = self.numel(), element = element_bytes(self.dtype);
  if (count == 0) return {};
  Scratch result;
  if (!is_row_major(self)) result.take(self.bytes());
  if (self.dtype == DType::boolean) {
    add_truth_values(result, self, has_counts, device);
    return result;
  }
  result.take(self.bytes());
  std::optional<std::size_t> range;
  if (wanted.inverse) {
    range = result.take(Count(count) * long_bytes);
    result.take(Count(count) * long_bytes);  // Original positions.
  }
  const std::size_t sort =
      result.take(cub::radix_sort_bytes({.items = count,
                                         .key_bytes = element,
                                         .value_bytes = wanted.inverse ? long_bytes : 0,
                                         .is_floating = is_floating_point(self.dtype)}));
  result.give_back(sort);
  if (range) result.give_back(*range);
  add_runs(result, count, self.dtype, wanted, false);
  return result;
}

/// (self, sorted, return_inverse, return_counts); _unique has no return_counts.
Scratch unique(const Call& call, const DeviceSpec& device) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  return sorted(*self, {call.integer(2, 0, 0) != 0, call.integer(3, 0, 0) != 0},
                call.op() == "aten::_unique2", device);
}

/// Slices along a dimension are compared by index (unique_dim_cuda_template).
Scratch of_slices(const TensorSpec& self, std::int64_t named, Wanted wanted, bool is_consecutive) {
  if (self.sizes.empty() || self.numel() == 0) return {.is_incomplete = true};
  const std::size_t dimension = dimension_of(self, named);
  const std::int64_t count = self.sizes[dimension];
  TensorSpec slices = self;
  std::swap(slices.sizes[0], slices.sizes[dimension]);
  std::swap(slices.strides[0], slices.strides[dimension]);
  Scratch result;
  if (!is_row_major(slices)) result.take(slices.bytes());
  result.take(Count(count) * long_bytes);
  if (!is_consecutive) result.give_back(result.take(cub::merge_sort_bytes(count)));
  if (wanted.inverse) {
    const std::size_t places = result.take(Count(count) * long_bytes);
    result.make_outputs();
    result.give_back(result.take(cub::no_storage_bytes()));  // Starts of runs.
    result.give_back(result.take(cub::thrust_scan_bytes(count)));
    result.give_back(places);
  }
  const std::size_t first = result.blocks.size();
  if (wanted.counts) result.take((Count(count) + 1) * long_bytes);
  result.take(wanted.counts ? cub::thrust_unique_by_key_bytes(count)
                            : cub::thrust_unique_bytes(count));
  result.give_back_from(first);
  if (!wanted.inverse) result.make_outputs();
  return result;
}

/// (self, dim, sorted, return_inverse, return_counts)
Scratch unique_dim(const Call& call, const DeviceSpec&) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  return of_slices(*self, call.integer(1, 0, 0),
                   {call.integer(3, 0, 0) != 0, call.integer(4, 0, 0) != 0}, false);
}

/// (self, dim, return_inverse, return_counts)
Scratch unique_dim_consecutive(const Call& call, const DeviceSpec&) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  return of_slices(*self, call.integer(1, 0, 0),
                   {call.integer(2, 0, 0) != 0, call.integer(3, 0, 0) != 0}, true);
}

/// (self, return_inverse, return_counts, dim)
Scratch unique_consecutive(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  const Wanted wanted{call.integer(1, 0, 0) != 0, call.integer(2, 0, 0) != 0};
  if (const std::int64_t dimension = call.integer(3, 0, none); dimension != none)
    return of_slices(*self, dimension, wanted, true);
  if (self->numel() == 0) return {};
  Scratch result;
  if (!is_row_major(*self)) result.take(self->bytes());
  add_runs(result, self->numel(), self->dtype, wanted, true);
  return result;
}

constexpr ScratchRule uniqueness_rows[] = {
    {"aten::_unique", unique},
    {"aten::_unique2", unique},
    {"aten::unique_consecutive", unique_consecutive},
    {"aten::unique_dim", unique_dim},
    {"aten::unique_dim_consecutive", unique_dim_consecutive},
};

}  // namespace

ScratchRules uniqueness_scratch() { return uniqueness_rows; }

}  // namespace symprof::profile

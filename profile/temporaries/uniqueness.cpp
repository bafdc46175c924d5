// The different elements of a tensor. Sources: aten/src/ATen/native/cuda/UniqueCub.cu. What it
// writes has room for all elements, and is then cut to as many as there are.
#include <algorithm>
#include <optional>

#include "profile/temporaries/cub.h"
#include "profile/temporaries/layout.h"
#include "profile/temporaries/temporaries.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t long_bytes = 8, flag_bytes = 4;

struct Wanted {
  bool inverse, counts;
};

/// Equal elements lie together: runs are counted, or their first elements selected
/// (compute_unique). The outputs are made between its blocks.
void add_runs(Temporaries& result, std::int64_t count, DType dtype, Wanted wanted,
              bool is_consecutive) {
  result.make_outputs();
  if (wanted.inverse) {
    const std::size_t places =
        result.take(Count(count) * (is_consecutive ? flag_bytes : long_bytes));
    result.give_back(result.take(cub::scan_of_flags_bytes(count)));
    result.give_back(places);
  }
  result.take(long_bytes);  // How many there are.
  result.take(wanted.counts ? cub::run_length_bytes(count) : cub::unique_bytes(count, dtype));
}

/// True and false are counted; the counts are there even if they are no output.
void add_truth_values(Temporaries& result, const TensorSpec& self, bool has_counts,
                      const DeviceSpec& device) {
  result.take(flag_bytes);
  result.give_back(result.take(cub::count_bytes(self.numel(), device)));
  result.make_outputs();
  if (!has_counts) result.take(2 * long_bytes);
}

Temporaries sorted(const TensorSpec& self, Wanted wanted, bool has_counts,
                   const DeviceSpec& device) {
  const std::int64_t count = self.numel(), element = element_bytes(self.dtype);
  if (count == 0) return {};
  Temporaries result;
  if (!is_row_major(self)) result.take(self.bytes());
  if (self.dtype == DType::boolean) {
    add_truth_values(result, self, has_counts, device);
    return result;
  }
  result.take(self.bytes());
  std::optional<std::size_t> range;
  if (wanted.inverse) {
    range = result.take(Count(count) * long_bytes);
    result.take(Count(count) * long_bytes);  // Where each came from.
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
Temporaries unique(const Call& call, const DeviceSpec& device) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  return sorted(*self, {call.integer(2, 0, 0) != 0, call.integer(3, 0, 0) != 0},
                call.op() == "aten::_unique2", device);
}

/// (self, return_inverse, return_counts, dim). Slices are compared by Thrust.
Temporaries unique_consecutive(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t none = -1000;
  const TensorSpec* self = call.input(0);
  if (self == nullptr || call.integer(3, 0, none) != none) return {.is_incomplete = true};
  if (self->numel() == 0) return {};
  Temporaries result;
  if (!is_row_major(*self)) result.take(self->bytes());
  add_runs(result, self->numel(), self->dtype,
           {call.integer(1, 0, 0) != 0, call.integer(2, 0, 0) != 0}, true);
  return result;
}

constexpr TemporariesRule rows[] = {
    {"aten::_unique", unique},
    {"aten::_unique2", unique},
    {"aten::unique_consecutive", unique_consecutive},
};

}  // namespace

TemporariesRules uniqueness_temporaries() { return rows; }

}  // namespace symprof::profile

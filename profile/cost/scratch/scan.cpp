// Scans: cumulative sums and extrema (aten/src/ATen/native/cuda/ScanKernels.cpp, ScanUtils.cuh).
#include "profile/cost/scratch/cub.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/sorting.h"

namespace symprof::profile {
namespace {

/// cumsum(self, dim, dtype), cumprod: another dtype is copied first; a single long row uses cub.
Scratch scan(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t most_at_once = std::int64_t{1} << 30;
  const TensorSpec *self = call.input(0), *output = call.output(0);
  if (self == nullptr || output == nullptr) return {.is_incomplete = true};
  const std::int64_t elements = self->numel();
  Scratch result;
  if (self->dtype != output->dtype) result.take(elements * element_bytes(output->dtype));
  if (elements == 0 || self->sizes.empty()) return result;
  if (!is_row_major(*self) && self->dtype == output->dtype) result.take(self->bytes());
  const std::size_t dimension = dimension_of(*self, call.integer(1, 0, 0));
  if (elements != self->sizes[dimension]) return result;
  result.is_incomplete = elements > most_at_once;
  result.take(cub::scan_bytes(elements, element_bytes(output->dtype)));
  return result;
}

/// cummax, cummin: need contiguous rows.
Scratch scan_of_extrema(const Call& call, const DeviceSpec&) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*self)) result.take(self->bytes());
  return result;
}

constexpr ScratchRule scan_rows[] = {
    {"aten::cumsum", scan},
    {"aten::cumprod", scan},
    {"aten::cumsum_", scan},
    {"aten::cummax", scan_of_extrema},
    {"aten::cummin", scan_of_extrema},
};

}  // namespace

ScratchRules scan_scratch() { return scan_rows; }

}  // namespace symprof::profile

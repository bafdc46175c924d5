// Histograms (aten/src/ATen/native/cuda/SummaryOps.cu).
#include <limits>

#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// histc(self, bins, min, max): an empty range (min == max) means the data's own range, which is
/// computed. Recordings omit floating-point arguments.
Scratch histogram(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t not_whole = std::numeric_limits<std::int64_t>::min();
  const std::int64_t lowest = call.integer(2, 0, not_whole),
                     highest = call.integer(3, 0, not_whole);
  const TensorSpec* input = call.input(0);
  if (input == nullptr || lowest == not_whole || highest == not_whole)
    return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  if (lowest != highest || input->numel() == 0) return result;
  result.take(element_bytes(input->dtype));
  result.take(element_bytes(input->dtype));
  if (!is_row_major(*input)) result.take(input->bytes());
  add_reduction(result, extrema_of(row_major(input->dtype, input->sizes)), device);
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
    result.take(element_bytes(self->dtype));  // Minimum, maximum.
    result.take(element_bytes(self->dtype));
    add_reduction(result, extrema_of(*self), device);
  }
  result.make_outputs();
  return result;
}

constexpr ScratchRule histogram_rows[] = {
    {"aten::histc", histogram},
    {"aten::bincount", bincount},
};

}  // namespace

ScratchRules histogram_scratch() { return histogram_rows; }

}  // namespace symprof::profile

// Masked selection: positions where a mask is true. Sources:
// aten/src/ATen/native/cuda/{Nonzero,IndexKernel}.cu,
// aten/src/ATen/native/TensorAdvancedIndexing.cpp.
#include "profile/cost/scratch/masking.h"

#include <algorithm>

#include "base/rounding.h"
#include "profile/cost/scratch/cub.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t count_bytes = 4;

/// Counts the nonzero elements and selects their positions; a scalar needs none.
void add_nonzero(Scratch& result, const TensorSpec& tensor, const DeviceSpec& device) {
  if (!is_row_major(tensor)) result.take(tensor.bytes());
  const std::size_t count = result.take(count_bytes);
  result.give_back(result.take(cub::count_bytes(tensor.numel(), device)));
  if (!tensor.sizes.empty()) result.give_back(result.take(cub::select_bytes(tensor.numel())));
  result.give_back(count);
}

Scratch nonzero(const Call& call, const DeviceSpec& device) {
  if (call.input_count() != 1) return {.is_incomplete = true};
  Scratch result;
  add_nonzero(result, *call.input(0), device);
  result.make_outputs();
  return result;
}

/// nonzero_static(self, size, fill_value): thread blocks count their parts and scan the counts.
Scratch nonzero_static(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t items_of_block = std::int64_t{512} * 16;
  const TensorSpec *self = call.input(0), *output = call.output(0);
  if (self == nullptr || output == nullptr) return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  if (!is_row_major(*self)) result.take(self->bytes());
  if (output->numel() == 0) return result;
  const std::int64_t of_each = element_bytes(self->dtype) == 1 ? 2 : 1;
  const std::int64_t wanted = device.multiprocessors * of_each;
  const std::int64_t rounds = divide_up(divide_up(self->numel(), items_of_block), wanted);
  if (rounds == 0) return result;
  const std::int64_t blocks = divide_up(self->numel(), rounds * items_of_block);
  result.take(blocks * count_bytes);
  result.take(blocks * long_bytes);
  return result;
}

}  // namespace

void add_mask(Scratch& result, const TensorSpec& mask, std::int64_t selected,
              const DeviceSpec& device) {
  add_nonzero(result, mask.sizes.empty() ? row_major(mask.dtype, {1}) : mask, device);
  result.take(Count(selected) * static_cast<std::int64_t>(mask.sizes.size()) * long_bytes);
}

namespace {

/// (self, mask)
Scratch masked_select(const Call& call, const DeviceSpec& device) {
  const TensorSpec *self = call.input_at(0), *mask = call.input_at(1), *output = call.output(0);
  if (self == nullptr || mask == nullptr || output == nullptr || self->sizes != mask->sizes)
    return {.is_incomplete = true};
  Scratch result;
  if (mask->numel() > 0) add_mask(result, *mask, output->numel(), device);
  result.make_outputs();
  return result;
}

/// (self, mask, source): the source index of each position.
Scratch masked_scatter(const Call& call, const DeviceSpec&) {
  if (call.input_count() < 2) return {.is_incomplete = true};
  const std::int64_t elements = std::max(call.input(0)->numel(), call.input(1)->numel());
  if (elements == 0) return {};
  Scratch result;
  result.take(Count(elements) * long_bytes);
  if (const TensorSpec& mask = *call.input(1); mask.numel() < elements || !is_row_major(mask))
    result.take(elements);
  result.take(cub::scan_bytes(elements, long_bytes));
  return result;
}

/// (gradient, mask, sizes): the selected elements, and zeros for the others. Their number depends
/// on data: at most all.
Scratch masked_scatter_backward(const Call& call, const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *mask = call.input_at(1), *output = call.output(0);
  if (gradient == nullptr || mask == nullptr || output == nullptr) return {.is_incomplete = true};
  Scratch result{.is_incomplete = true};
  TensorSpec whole = row_major(DType::boolean, gradient->sizes);
  if (mask->numel() < gradient->numel()) result.take(whole.bytes());
  if (gradient->numel() > 0) add_mask(result, whole, gradient->numel(), device);
  result.take(output->bytes());
  result.make_outputs();
  return result;
}

constexpr ScratchRule masking_rows[] = {
    {"aten::nonzero", nonzero},
    {"aten::nonzero_static", nonzero_static},
    {"aten::masked_select", masked_select},
    {"aten::masked_scatter", masked_scatter},
    {"aten::masked_scatter_", masked_scatter},
    {"aten::masked_scatter_backward", masked_scatter_backward},
};

}  // namespace

ScratchRules masking_scratch() { return masking_rows; }

}  // namespace symprof::profile

// What is written to places that a tensor names. Sources: aten/src/ATen/native/
// TensorAdvancedIndexing.cpp (scatter_reduce_two, index_reduce_func_impl), cuda/Indexing.cu,
// UnfoldBackwardKernel.cu.
#include <algorithm>

#include "profile/cost/scratch/sorting.h"

namespace symprof::profile {
namespace {

/// scatter_reduce(self, dim, index, src, reduce, include_self). A recording does not say how it
/// reduces: taken to be the mean, which counts, and of which the others need nothing.
Scratch scatter_reduce(const Call& call, const DeviceSpec&) {
  const TensorSpec *self = call.input_at(0), *source = call.input_at(3);
  if (self == nullptr || source == nullptr) return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  if (self->numel() == 0 || source->numel() == 0) return result;
  result.take(source->bytes());  // A one for each.
  result.take(self->bytes());    // How many come to each place.
  result.take(self->numel());    // Whether none does.
  return result;
}

/// index_reduce(self, dim, index, source, reduce, include_self), in the same way.
Scratch index_reduce(const Call& call, const DeviceSpec&) {
  const TensorSpec *self = call.input_at(0), *index = call.input_at(2), *source = call.input_at(3);
  if (self == nullptr || index == nullptr || source == nullptr) return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  if (self->numel() == 0) return result;
  if (call.integer(5, 0, 1) == 0 && index->dtype == DType::int32)
    result.give_back(result.take(Count(index->numel()) * long_bytes));
  result.take(self->bytes());
  result.give_back(result.take(source->bytes()));
  result.take(self->numel());
  return result;
}

/// (gradient, input_sizes, dim, size, step): the places that overlapping windows cover.
Scratch unfold_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec *gradient = call.input_at(0), *output = call.output(0);
  if (gradient == nullptr || output == nullptr) return {.is_incomplete = true};
  const std::int64_t size = call.integer(3, 0, 1), step = call.integer(4, 0, 1);
  Scratch result;
  result.make_outputs();
  if (step >= size || output->sizes.empty()) return result;
  const std::size_t dimension = dimension_of(*output, call.integer(2, 0, 0));
  result.take(Count((gradient->sizes[dimension] - 1) * step + size) * long_bytes);
  return result;
}

constexpr ScratchRule scattering_rows[] = {
    {"aten::scatter_reduce", scatter_reduce},   {"aten::scatter_reduce_", scatter_reduce},
    {"aten::index_reduce", index_reduce},       {"aten::index_reduce_", index_reduce},
    {"aten::unfold_backward", unfold_backward},
};

}  // namespace

ScratchRules scattering_scratch() { return scattering_rows; }

}  // namespace symprof::profile

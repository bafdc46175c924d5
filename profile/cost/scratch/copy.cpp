// Copies in parts or in columns. Sources: aten/src/ATen/native/cuda: Im2Col.cu, Col2Im.cu,
// TensorTransformations.cu, TensorShape.cu, UnfoldBackwardKernel.cu.
#include <limits>

#include "base/rounding.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/sorting.h"

namespace symprof::profile {
namespace {

/// im2col and col2im allocate their output at the input's size and then resize it; if it grows, the
/// first block is freed.
Scratch columns(const Call& call, const DeviceSpec&) {
  const TensorSpec *input = call.input(0), *output = call.output(0);
  if (input == nullptr || output == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*input)) result.take(input->bytes());
  if (output->bytes() > input->bytes()) result.take(input->bytes());
  result.make_outputs();
  return result;
}

/// roll(self, shifts, dims): one dimension after another, each into a new tensor.
Scratch roll(const Call& call, const DeviceSpec&) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  constexpr std::int64_t none_left = std::numeric_limits<std::int64_t>::min();
  std::size_t shifts = 0;
  while (call.integer(1, shifts, none_left) != none_left) ++shifts;
  Scratch result;
  const bool is_copied = !is_row_major(*self);
  if (is_copied) result.take(self->bytes());
  for (std::size_t i = 1; i < shifts; ++i) {
    result.take(self->bytes());
    if (i == 1 && is_copied) result.give_back(0);
  }
  result.make_outputs();
  return result;
}

/// (gradient, input_sizes, dim, size, step): the index of the elements that overlapping windows
/// cover.
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

/// _chunk_cat(tensors, dim, num_chunks): metadata of the kernel's blocks, each of 2048 bytes of a
/// tensor's part of a chunk (get_chunk_cat_metadata in aten/src/ATen/native/cuda/TensorShape.cu).
Scratch chunk_cat(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t bytes_of_block = 2048, numbers_of_tensor = 6;
  const std::int64_t dimension = call.integer(1, 0, 0), chunks = call.integer(2, 0, 1);
  if (!is_uniform(call) || chunks < 1) return {.is_incomplete = true};
  std::int64_t tensors = 0, blocks = 0;
  for (; call.input(static_cast<std::size_t>(tensors)) != nullptr; ++tensors) {
    const TensorSpec& tensor = *call.input(static_cast<std::size_t>(tensors));
    const std::size_t at = dimension_of(tensor, dimension);
    if (!is_row_major(tensor) || at >= tensor.sizes.size()) return {.is_incomplete = true};
    Count bytes = Count(divide_up(tensor.sizes[at], chunks)) * element_bytes(tensor.dtype);
    for (std::size_t i = at + 1; i < tensor.sizes.size(); ++i) bytes *= tensor.sizes[i];
    blocks += divide_up(bytes.value(), bytes_of_block);
  }
  Scratch result;
  result.make_outputs();
  result.take(Count(tensors * numbers_of_tensor + 2 + blocks) * long_bytes);
  return result;
}

constexpr ScratchRule copy_rows[] = {
    {"aten::im2col", columns},
    {"aten::col2im", columns},
    {"aten::roll", roll},
    {"aten::unfold_backward", unfold_backward},
    {"aten::_chunk_cat", chunk_cat},
};

}  // namespace

ScratchRules copy_scratch() { return copy_rows; }

}  // namespace symprof::profile

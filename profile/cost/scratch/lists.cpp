// Operators on lists of tensors. Their pointers travel as arguments of kernels
// (aten/src/ATen/native/cuda/MultiTensorApply.cuh); reductions meet in memory
// (ForeachReduceOp.cu).
#include <algorithm>

#include "base/rounding.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/sorting.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t chunk = 65536;  // Elements of a block.

/// A place for each chunk of each tensor, as many as the longest has.
std::int64_t places(const Call& call) {
  std::int64_t most = 0, tensors = 0;
  for (; call.input(static_cast<std::size_t>(tensors)) != nullptr; ++tensors)
    most = std::max(most, divide_up(call.input(static_cast<std::size_t>(tensors))->numel(), chunk));
  return most * tensors;
}

/// One device kernel serves tensors of one type and layout; others go one by one.
bool is_uniform(const Call& call) {
  for (std::size_t i = 1; call.input(i) != nullptr; ++i)
    if (call.input(i)->dtype != call.input(0)->dtype) return false;
  return call.input(0) != nullptr;
}

Scratch norm(const Call& call, const DeviceSpec&) {
  if (!is_uniform(call)) return {.is_incomplete = true};
  const std::int64_t partial = std::max<std::int64_t>(element_bytes(call.input(0)->dtype), 4);
  Scratch result{.blocks = {places(call) * partial}};
  result.make_outputs();
  return result;
}

Scratch maximum(const Call& call, const DeviceSpec&) {
  if (!is_uniform(call)) return {.is_incomplete = true};
  return {.blocks = {places(call) * element_bytes(call.input(0)->dtype)}};
}

/// _chunk_cat(tensors, dim, num_chunks): what the blocks of a kernel want to know, which are of
/// 2048 bytes of a tensor's part of a chunk (get_chunk_cat_metadata in
/// aten/src/ATen/native/cuda/TensorShape.cu).
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

constexpr ScratchRule lists_rows[] = {
    {"aten::_chunk_cat", chunk_cat},
    {"aten::_foreach_norm", norm},
    {"aten::_foreach_max", maximum},
};

}  // namespace

ScratchRules list_scratch() { return lists_rows; }

}  // namespace symprof::profile

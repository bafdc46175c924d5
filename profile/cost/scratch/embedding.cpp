// Gradients of embeddings: rows with equal indices are summed. Sources:
// aten/src/ATen/native/cuda/{Embedding,EmbeddingBag,EmbeddingBackwardKernel}.cu.
#include <algorithm>

#include "base/rounding.h"
#include "profile/cost/scratch/cub.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/precision.h"

namespace symprof::profile {
namespace {

/// An embedding's gradient as its backward sees it.
struct Backward {
  TensorSpec gradient, indices;
  std::int64_t rows = 0;  ///< Rows of the weight.
  bool is_scaled = false, has_bags = false;

  std::int64_t width() const { return gradient.sizes.back(); }
  std::int64_t segments() const { return std::min(indices.numel(), rows); }
  /// Partial segments: the rows of each run of equal indices are summed in pieces.
  std::int64_t pieces() const {
    constexpr std::int64_t rows_of_piece = 10;
    return indices.numel() / rows_of_piece + segments();
  }
};

/// True if few runs of many rows each are summed in one kernel, with atomic additions
/// (use_fused_kernel).
bool adds_atomically(const Backward& backward, const DeviceSpec& device) {
  constexpr std::int64_t warp = 32, most_threads = 1024, blocks_of_multiprocessor = 4,
                         least_pieces = 4;
  const std::int64_t threads = round_up(backward.width(), warp);
  const std::int64_t blocks =
      divide_up(backward.segments() * threads, std::min(threads, most_threads));
  return !backward.has_bags && blocks < device.multiprocessors * blocks_of_multiprocessor &&
         backward.pieces() > blocks * least_pieces;
}

/// embedding_backward_cuda_kernel.
void add_segment_sums(Scratch& result, const Backward& backward, const DeviceSpec& device) {
  const TensorSpec& indices = backward.indices;
  const std::int64_t count = indices.numel(), index = element_bytes(indices.dtype);
  result.take(count * index);  // Start of each run.
  result.take(long_bytes);     // Number of runs.
  const std::size_t unused_keys = result.take(count * index);
  const std::size_t selection = result.take(cub::unique_by_key_bytes(count));
  result.give_back(selection);
  result.give_back(unused_keys);
  result.take(backward.segments() * index);  // Number of pieces of each run.
  result.take(backward.segments() * index);  // First piece of each run.
  result.give_back(result.take(cub::scan_bytes(backward.segments(), index)));
  result.take(long_bytes);
  result.take(backward.pieces() * index);
  const Count row = Count(backward.width()) * accumulated_bytes(backward.gradient.dtype);
  if (!adds_atomically(backward, device)) {
    result.take(row * backward.pieces());
    return;
  }
  result.take(backward.pieces() * index);  // The run of each piece.
  if (is_half(backward.gradient.dtype)) result.take(row * backward.rows);
}

/// Indices are sorted so that equal ones are adjacent; the output is allocated before their rows
/// are summed. Scaling needs the count of each index.
void add_sorted_sums(Scratch& result, const Backward& backward, const DeviceSpec& device) {
  const TensorSpec& indices = backward.indices;
  const std::int64_t count = indices.numel(), index = element_bytes(indices.dtype);
  result.take(indices.bytes());  // Sorted.
  result.take(indices.bytes());  // Original positions.
  const std::size_t range = result.take(indices.bytes());
  const std::size_t sort =
      result.take(cub::radix_sort_bytes({.items = count,
                                         .key_bytes = index,
                                         .value_bytes = index,
                                         .bits = cub::bits_up_to(backward.rows)}));
  result.give_back(sort);
  result.give_back(range);
  if (backward.is_scaled) {  // Counts: scans of runs, forward and backward.
    result.take(indices.bytes());
    for (int i = 0; i < 2; ++i) result.give_back(result.take(cub::scan_by_key_bytes(count, index)));
  }
  result.make_outputs();
  add_segment_sums(result, backward, device);
}

/// (weight, indices, …): the indices flattened, copied if no view can flatten them.
Scratch embedding(const Call& call, const DeviceSpec&) {
  const TensorSpec* indices = call.input_at(1);
  if (indices == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (!can_be_joined(*indices)) result.take(indices->bytes());
  result.make_outputs();
  return result;
}

/// Up to 3072 indices, a single kernel. (gradient [.., width], indices, num_weights, padding_idx,
/// scale_grad_by_freq)
Scratch embedding_backward(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t most_unsorted = 3072;
  const TensorSpec *gradient = call.input_at(0), *indices = call.input_at(1);
  if (gradient == nullptr || indices == nullptr) return {.is_incomplete = true};
  const bool is_scaled = call.integer(4, 0, 0) != 0;
  const std::int64_t count = indices->numel();
  Scratch result;
  for (const TensorSpec* tensor : {gradient, indices})
    if (!is_row_major(*tensor)) result.take(tensor->bytes());
  if (count == 0 || (count <= most_unsorted && !is_scaled)) {
    result.make_outputs();
    return result;
  }
  add_sorted_sums(result,
                  {.gradient = *gradient,
                   .indices = *indices,
                   .rows = call.integer(2, 0, 0),
                   .is_scaled = is_scaled},
                  device);
  return result;
}

/// (gradient [bags, width], indices, offsets, offset2bag, bag_size, maximum_indices, num_weights,
/// scale_grad_by_freq, mode, sparse, …). Max mode has one index per element, and accumulates into
/// the output.
Scratch embedding_bag_backward(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t mode_max = 2;
  const TensorSpec *gradient = call.input_at(0), *indices = call.input_at(1);
  if (gradient == nullptr || indices == nullptr || call.integer(9, 0, 0) != 0)
    return {.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*gradient)) result.take(gradient->bytes());
  if (call.integer(8, 0, 0) == mode_max || indices->numel() == 0) {
    result.make_outputs();
    return result;
  }
  add_sorted_sums(result,
                  {.gradient = *gradient,
                   .indices = *indices,
                   .rows = call.integer(6, 0, 0),
                   .is_scaled = call.integer(7, 0, 0) != 0,
                   .has_bags = true},
                  device);
  return result;
}

constexpr ScratchRule embedding_rows[] = {
    {"aten::embedding", embedding},
    {"aten::embedding_dense_backward", embedding_backward},
    {"aten::_embedding_bag_backward", embedding_bag_backward},
};

}  // namespace

ScratchRules embedding_scratch() { return embedding_rows; }

}  // namespace symprof::profile

// Operators that sort indices to add up what falls on the same row. The temporary storage of cub's
// radix sort is not in the sums: some hundred KiB beside buffers of the size of the indices.
#include "profile/checked.h"
#include "profile/temporaries/temporaries.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t float_bytes = 4, long_bytes = 8;

/// aten/src/ATen/native/cuda/Embedding.cu and EmbeddingBackwardKernel.cu: up to 3072 indices one
/// kernel does it all; more are sorted, and the rows of each run of equal indices are summed in
/// fp32 first. (grad_output [.., width], indices, …)
Temporaries embedding_backward(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t most_unsorted = 3072;
  const TensorSpec* gradient = call.input_at(0);
  const TensorSpec* indices = call.input_at(1);
  if (gradient == nullptr || indices == nullptr) return {.is_incomplete = true};
  const std::int64_t count = indices->numel();
  if (count <= most_unsorted) return {};
  const std::int64_t index_bytes = indices->bytes();
  const std::int64_t width = gradient->sizes.back();
  Temporaries result{.is_incomplete = true};
  result.blocks.assign(6, index_bytes);  // Sorted, origin, segments, partials, two offsets.
  result.blocks.push_back((Count(count) * width * float_bytes).value());
  return result;
}

/// aten/src/ATen/native/cuda/Indexing.cu, index_put_with_sort_kernel: linear, sorted and original
/// index and the range that is sorted along. (self, indices…, values, accumulate)
Temporaries index_put(const Call& call, const DeviceSpec&) {
  const bool accumulates = call.integer(3, 0, 0) != 0;
  if (!accumulates) return {};
  const TensorSpec* indices = call.input_at(1);
  if (indices == nullptr) return {.is_incomplete = true};
  Temporaries result{.is_incomplete = true};
  result.blocks.assign(4, (Count(indices->numel()) * long_bytes).value());
  return result;
}

constexpr TemporariesRule rows[] = {
    {"aten::embedding_dense_backward", embedding_backward},
    {"aten::index_put", index_put},
    {"aten::index_put_", index_put},
    {"aten::_index_put_impl_", index_put},
};

}  // namespace

TemporariesRules indexing_temporaries() { return rows; }

}  // namespace symprof::profile

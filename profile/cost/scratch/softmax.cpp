// Softmax. Sources: aten/src/ATen/native/cuda/SoftMax.cu, native/transformers/attention.cpp.
#include <algorithm>

#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// The forward kernels of softmax require contiguous rows (host_softmax).
Scratch softmax(const Call& call, const DeviceSpec&) {
  Scratch result;
  if (const TensorSpec* input = call.input(0); input != nullptr && !is_row_major(*input))
    result.take(input->bytes());
  return result;
}

bool is_expanded(const TensorSpec& tensor) {
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i)
    if (tensor.strides[i] == 0 && tensor.sizes[i] != 1) return true;
  return false;
}

/// (gradient, output, …): their product, which the kernel sums and subtracts, in the gradient's
/// layout; product and output must have contiguous rows (softmax_backward_cuda_out).
Scratch softmax_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec *gradient = call.input_at(0), *output = call.input_at(1);
  if (gradient == nullptr || output == nullptr) return {.is_incomplete = true};
  Scratch result{.blocks = {gradient->bytes()}};
  const TensorSpec& laid_out_as = is_expanded(*gradient) ? *output : *gradient;
  for (const TensorSpec* tensor : {&laid_out_as, output})
    if (!is_row_major(*tensor)) result.take(tensor->bytes());
  return result;
}

/// (gradient, output, …), each with contiguous rows (host_softmax_backward).
Scratch log_softmax_backward(const Call& call, const DeviceSpec&) {
  Scratch result;
  for (const int position : {0, 1})
    if (const TensorSpec* tensor = call.input_at(position);
        tensor != nullptr && !is_row_major(*tensor))
      result.take(tensor->bytes());
  return result;
}

/// Rows of only minus infinity become 0: a mask of elements, reduced to a mask of rows
/// (_safe_softmax in transformers/attention.cpp).
Scratch safe_softmax(const Call& call, const DeviceSpec& device) {
  const TensorSpec* input = call.input(0);
  if (input == nullptr || input->sizes.empty()) return {.is_incomplete = true};
  std::vector<bool> is_reduced(input->sizes.size());
  const std::int64_t dimension = call.integer(1, 0, -1);
  const auto rank = static_cast<std::int64_t>(input->sizes.size());
  const auto at = static_cast<std::size_t>(dimension < 0 ? dimension + rank : dimension);
  is_reduced[at] = true;
  Scratch result;
  TensorSpec mask = row_major(DType::boolean, input->sizes);
  result.take(mask.numel());
  result.take(mask.numel() / std::max<std::int64_t>(mask.sizes[at], 1));
  add_reduction(
      result,
      {.input = mask, .is_reduced = is_reduced, .output = DType::boolean, .accumulator_bytes = 1},
      device);
  result.take(element_bytes(call.output(0)->dtype));  // The 0.
  return result;
}

/// masked_softmax_cuda in native/transformers/cuda/attention.cu: rows that its kernel does not
/// support are filled with -inf and passed to the usual softmax, after an unused output. (self,
/// mask, dim, mask_type)
Scratch masked_softmax(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t most_elements = 1024, most_bytes = 4096, mask_of_queries = 0;
  const TensorSpec *scores = call.input_at(0), *mask = call.input_at(1);
  if (scores == nullptr || mask == nullptr) return {.is_incomplete = true};
  if (scores->sizes.empty()) return {};
  const auto rank = static_cast<std::int64_t>(scores->sizes.size());
  const std::int64_t given = call.integer(2, 0, rank - 1);
  const std::int64_t dimension = given < 0 ? given + rank : given;
  const std::int64_t elements = scores->sizes[static_cast<std::size_t>(dimension)];
  const bool is_expanded =
      call.integer(3, 0, 2) == mask_of_queries && mask->numel() != scores->numel();
  if (elements <= most_elements && elements * element_bytes(scores->dtype) <= most_bytes &&
      is_row_major(*mask) && !is_expanded && dimension == rank - 1)
    return {};
  Scratch result;
  result.take(scores->bytes());
  result.take(scores->bytes());
  result.make_outputs();
  return result;
}

constexpr ScratchRule softmax_rows[] = {
    {"aten::_softmax", softmax},
    {"aten::_log_softmax", softmax},
    {"aten::_softmax_backward_data", softmax_backward},
    {"aten::_log_softmax_backward_data", log_softmax_backward},
    {"aten::_safe_softmax", safe_softmax},
    {"aten::_masked_softmax", masked_softmax},
};

}  // namespace

ScratchRules softmax_scratch() { return softmax_rows; }

}  // namespace symprof::profile

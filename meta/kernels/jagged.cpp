// Jagged tensors: sequences of different lengths, packed or padded
// (native/nested/cuda/NestedTensorTransformerFunctions.cu).
#include <ATen/ATen.h>
#include <torch/library.h>

#include <optional>

#include "meta/fake/known_values.h"
#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/unbacked_size.h"

namespace symprof::kernels {
namespace jagged {
namespace {

using at::Tensor;
using at::TensorList;

void check_one_dimension(TensorList offsets, const char* op) {
  TORCH_CHECK(offsets.size() == 1 && offsets[0].dim() == 1, op, ": found ", offsets.size(),
              " jagged dimensions, wanted one");
}

/// values [total, width] as [sequences, longest, width].
Tensor padded(const Tensor& values, TensorList offsets, at::IntArrayRef longest, double) {
  check_one_dimension(offsets, "_jagged_to_padded_dense_forward");
  std::vector<int64_t> sizes{offsets[0].numel() - 1, longest[0]};
  sizes.insert(sizes.end(), values.sizes().begin() + 1, values.sizes().end());
  return fresh(sizes, values);
}

/// Without `total`, the last offset is the total.
Tensor packed(const Tensor& dense, TensorList offsets, std::optional<int64_t> total) {
  check_one_dimension(offsets, "_padded_dense_to_jagged_forward");
  if (!total) {
    std::optional<int64_t> known;
    if (const auto values = meta::known_values(offsets[0]); values && values->numel() > 0)
      known = values->select(0, -1).item<int64_t>();
    total = unbacked_size("aten::_padded_dense_to_jagged_forward", dense.size(0) * dense.size(1),
                          known);
  }
  std::vector<int64_t> sizes{*total};
  sizes.insert(sizes.end(), dense.sizes().begin() + 2, dense.sizes().end());
  return fresh(sizes, dense);
}

}  // namespace
}  // namespace jagged

void register_jagged(torch::Library& library) {
  library.impl("_jagged_to_padded_dense_forward", &jagged::padded);
  library.impl("_padded_dense_to_jagged_forward", &jagged::packed);
}

}  // namespace symprof::kernels

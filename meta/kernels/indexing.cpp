// Selection by masks and indices (native/TensorCompare.cpp, native/cuda/Indexing.cu,
// native/cuda/Embedding.cu).
#include <ATen/ATen.h>
#include <ATen/WrapDimUtils.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

using at::Tensor;

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  return pointwise({condition, self, other}, at::result_type(self, other));
}

Tensor& where_into(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  return pointwise_into({condition, self, other}, out);
}

std::vector<int64_t> selected_sizes(const Tensor& self, int64_t dim, const Tensor& index) {
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select: found an index of size ", index.sizes(),
                    ", wanted a vector");
  auto sizes = self.sizes().vec();
  const int64_t wrapped = at::maybe_wrap_dim(dim, self.dim());
  if (self.dim() > 0) sizes[wrapped] = index.numel();
  return sizes;
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return fresh(selected_sizes(self, dim, index), self);
}

Tensor& index_select_into(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  return resize_into(out, selected_sizes(self, dim, index));
}

Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor&, int64_t num_weights,
                                int64_t, bool) {
  return fresh({num_weights, grad_output.size(-1)}, grad_output);
}

}  // namespace

void register_indexing(torch::Library& library) {
  library.impl("where.self", &where);
  library.impl("where.self_out", &where_into);
  library.impl("index_select", &index_select);
  library.impl("index_select.out", &index_select_into);
  library.impl("embedding_dense_backward", &embedding_dense_backward);
}

}  // namespace symprof::kernels

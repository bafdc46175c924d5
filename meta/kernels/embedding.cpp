// Embeddings and embedding bags (native/cuda/Embedding.cu, EmbeddingBag.cu,
// EmbeddingBackwardKernel.cu).
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::Tensor;
using std::optional;
using Bag = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Tensor embedding_backward(const Tensor& grad_output, const Tensor&, int64_t num_weights, int64_t,
                          bool) {
  return fresh({num_weights, grad_output.size(-1)}, grad_output);
}

enum class BagMode : std::int64_t { sum, mean, max };

// Weight [V, D], indices [n]: output [bags, D], the bag of each index, the size of each bag, and
// for `max` the index of the maximum.
Bag embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool,
                  int64_t mode, bool, const optional<Tensor>&, bool include_last_offset, int64_t) {
  const int64_t bags = offsets.size(0) - (include_last_offset ? 1 : 0);
  const int64_t width = weight.size(1);
  const bool keeps_winner = static_cast<BagMode>(mode) == BagMode::max;
  return {fresh({bags, width}, weight), fresh({indices.size(0)}, indices),
          fresh(offsets.sizes(), indices),
          keeps_winner ? fresh({bags, width}, indices) : fresh({0}, indices)};
}

Tensor embedding_bag_backward(const Tensor& grad, const Tensor&, const Tensor&, const Tensor&,
                              const Tensor&, const Tensor&, int64_t num_weights, bool, int64_t,
                              bool sparse, const optional<Tensor>&, int64_t) {
  TORCH_CHECK(!sparse, "_embedding_bag_backward: found sparse=true, wanted a dense gradient");
  return fresh({num_weights, grad.size(1)}, grad);
}

Tensor embedding_bag_dense_backward(const Tensor& grad, const Tensor&, const Tensor&, const Tensor&,
                                    const Tensor&, int64_t num_weights, bool, int64_t,
                                    const optional<Tensor>&, int64_t) {
  return fresh({num_weights, grad.size(1)}, grad);
}

Tensor embedding_bag_weights_backward(const Tensor& grad, const Tensor&, const Tensor& indices,
                                      const Tensor&, const Tensor&, int64_t, int64_t) {
  return fresh({indices.size(0)}, grad);
}

}  // namespace

void register_embedding(torch::Library& library) {
  library.impl("embedding_dense_backward", &embedding_backward);
  library.impl("_embedding_bag", &embedding_bag);
  library.impl("_embedding_bag_forward_only", &embedding_bag);
  library.impl("_embedding_bag_backward", &embedding_bag_backward);
  library.impl("_embedding_bag_dense_backward", &embedding_bag_dense_backward);
  library.impl("_embedding_bag_per_sample_weights_backward", &embedding_bag_weights_backward);
}

}  // namespace symprof::kernels

// Embeddings: row look-ups by index, and their gradients.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// embedding_bag(weight, indices, ...): rows [indices, D] summed into bags.
Estimate embedding_bag(const Call& call) {
  const TensorSpec *weight = call.input_at(0), *indices = call.input_at(1);
  if (!weight || !indices || weight->sizes.size() != 2) return std::nullopt;
  const Count looked_up = elements(*indices) * weight->sizes[1];
  return cost({.other = looked_up}, read_bytes(call, 0) + looked_up * element_bytes(weight->dtype),
              written_bytes(call));
}

/// embedding_dense_backward(grad, indices, ...): zeros, then each gradient added to its row.
Estimate embedding_dense_backward(const Call& call) {
  const TensorSpec* gradient = call.input_at(0);
  const TensorSpec* weight_gradient = call.output(0);
  if (!gradient || !weight_gradient) return std::nullopt;
  const Count rows_bytes = elements(*gradient) * element_bytes(weight_gradient->dtype);
  return cost({.other = elements(*gradient)}, read_bytes(call) + rows_bytes,
              written_bytes(call) + rows_bytes);
}

/// embedding_bag's backward(grad, indices, ..., mode, ...): each index adds its bag's gradient to a
/// row; for max (mode 2), each element is added to one row.
template <int mode_position>
Estimate embedding_bag_backward(const Call& call) {
  constexpr int max_mode = 2;
  const TensorSpec *gradient = call.input_at(0), *indices = call.input_at(1);
  const TensorSpec* weight_gradient = call.output(0);
  if (!gradient || !indices || !weight_gradient || gradient->sizes.size() != 2) return std::nullopt;
  const Count added = call.integer(mode_position, 0, 0) == max_mode
                          ? elements(*gradient)
                          : elements(*indices) * gradient->sizes[1];
  const Count rows_bytes = added * element_bytes(weight_gradient->dtype);
  return cost({.other = added}, read_bytes(call) + rows_bytes, written_bytes(call) + rows_bytes);
}

constexpr Rule embedding_rows[] = {
    {"aten::embedding", gathers},
    {"aten::embedding_dense_backward", embedding_dense_backward, modelled},
    {"aten::embedding_renorm", moves, modelled},
    {"aten::_embedding_bag", embedding_bag, modelled},
    {"aten::_embedding_bag_forward_only", embedding_bag, modelled},
    {"aten::_embedding_bag_backward", embedding_bag_backward<8>, modelled},
    {"aten::_embedding_bag_dense_backward", embedding_bag_backward<7>, modelled},
};

}  // namespace

Rules embedding_rules() { return embedding_rows; }

}  // namespace symprof::profile

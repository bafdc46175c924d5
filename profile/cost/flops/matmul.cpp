// Matrix products. The counts are those of torch/utils/flop_counter.py (mm_flop, bmm_flop):
// 2·M·N·K, the added matrix and the scales left out. Products that PyTorch's counter does not know
// (mv, dot, addbmm, grouped) follow the same convention.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// [..., M, K] · [..., K, N]: every element of `left` meets N columns.
Estimate matrix_product(const Call& call, const TensorSpec* left, const TensorSpec* right) {
  if (!left || !right || left->sizes.empty() || right->sizes.size() < 2) return std::nullopt;
  return streaming(call, {.product = 2 * elements(*left) * right->sizes.back()});
}

Estimate mm(const Call& call) { return matrix_product(call, call.input_at(0), call.input_at(1)); }

/// addmm(added, left, right) and its batched forms; addbmm sums over the batch, with the same
/// count.
Estimate addmm(const Call& call) {
  return matrix_product(call, call.input_at(1), call.input_at(2));
}

/// self [M, K] or [G, M, K], mat2 [K, N] or [G, K, N], groups marked by offsets on the dimension
/// that one of them lacks: self and mat2 both 2-D split K, 2-D by 3-D splits M, 3-D by 2-D splits
/// N. In each form the groups cover the split dimension once.
Estimate grouped_mm(const Call& call) {
  const TensorSpec *left = call.input_at(0), *right = call.input_at(1);
  if (!left || !right || left->sizes.size() < 2 || right->sizes.size() < 2) return std::nullopt;
  if (left->sizes.size() == 3 && right->sizes.size() == 2) {
    const Count rows_and_depth = Count(left->sizes[1]) * left->sizes[2];
    return streaming(call, {.product = 2 * rows_and_depth * right->sizes[1]});
  }
  return matrix_product(call, left, right);
}

/// (input [S, K], weight [E, K, N], …): a product for each of the two gradients.
Estimate experts_backward(const Call& call) {
  const TensorSpec *input = call.input_at(0), *weight = call.input_at(1);
  if (!input || !weight || weight->sizes.empty()) return std::nullopt;
  const Count of_one = 2 * elements(*input) * weight->sizes.back();
  return streaming(call, {.product = 2 * of_one});
}

/// Every element of `matrix` [M, K] meets one of the vector.
Estimate two_per_element(const Call& call, const TensorSpec* matrix) {
  if (!matrix) return std::nullopt;
  return streaming(call, {.product = 2 * elements(*matrix)});
}

Estimate mv(const Call& call) { return two_per_element(call, call.input_at(0)); }
Estimate addmv(const Call& call) { return two_per_element(call, call.input_at(1)); }

/// input [..., K], weight [N, K].
Estimate linear(const Call& call) {
  const TensorSpec *input = call.input_at(0), *weight = call.input_at(1);
  if (!input || !weight || weight->sizes.empty()) return std::nullopt;
  const std::int64_t rows = weight->sizes.size() > 1 ? weight->sizes[0] : 1;
  return streaming(call, {.product = 2 * elements(*input) * rows});
}

/// (self, grad_output, weight, output_mask): one product for each of the two gradients asked for.
Estimate linear_backward(const Call& call) {
  const TensorSpec *self = call.input_at(0), *weight = call.input_at(2);
  if (!self || !weight || weight->sizes.empty()) return std::nullopt;
  const std::int64_t products = call.integer(3, 0, 1) + call.integer(3, 1, 1);
  return streaming(call, {.product = 2 * elements(*self) * weight->sizes[0] * products});
}

/// addr(self, a [M], b [N]): a product and a sum for each element of the result.
constexpr Rule matmul_rows[] = {
    {"aten::mm", mm},
    {"aten::bmm", mm},
    {"aten::matmul", mm},
    {"aten::_int_mm", mm},
    {"aten::_scaled_mm", mm},
    {"aten::_scaled_mm_v2", mm},
    {"aten::addmm", addmm},
    {"aten::_addmm_activation", addmm},
    {"aten::baddbmm", addmm},
    {"aten::addbmm", addmm},
    {"aten::_grouped_mm", grouped_mm, Confidence::modelled},
    {"aten::_scaled_grouped_mm", grouped_mm, Confidence::modelled},
    {"aten::_scaled_grouped_mm_v2", grouped_mm, Confidence::modelled},
    {"transformers::grouped_mm_fallback", grouped_mm, Confidence::modelled},
    {"transformers::grouped_mm_fallback_backward", experts_backward, Confidence::modelled},
    {"aten::mv", mv},
    {"aten::addmv", addmv},
    {"aten::dot", mv},
    {"aten::vdot", mv},
    {"aten::linear", linear},
    {"aten::linear_backward", linear_backward},
    {"aten::addr", per_output<2>},
};

}  // namespace

Rules matmul_rules() { return matmul_rows; }

}  // namespace symprof::profile

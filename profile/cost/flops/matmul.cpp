// Matrix products. The counts are those of torch/utils/flop_counter.py (mm_flop, bmm_flop):
// 2·M·N·K, without the added matrix and the scales. Products that PyTorch's counter does not cover
// (mv, dot, addbmm, grouped) follow the same convention.
#include <algorithm>
#include <vector>

#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// [..., M, K] · [..., K, N]: every element of `left` is multiplied with N columns.
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

/// self [M, K] or [G, M, K], mat2 [K, N] or [G, K, N], groups delimited by offsets along one
/// dimension: 2-D by 2-D splits K, 2-D by 3-D splits M, 3-D by 2-D splits N. In each form the
/// groups cover the split dimension once.
Estimate grouped_mm(const Call& call) {
  const TensorSpec *left = call.input_at(0), *right = call.input_at(1);
  if (!left || !right || left->sizes.size() < 2 || right->sizes.size() < 2) return std::nullopt;
  if (left->sizes.size() == 3 && right->sizes.size() == 2) {
    const Count rows_and_depth = Count(left->sizes[1]) * left->sizes[2];
    return streaming(call, {.product = 2 * rows_and_depth * right->sizes[1]});
  }
  return matrix_product(call, left, right);
}

/// self [..., K] with a packed or quantized weight: its number of columns comes from the result.
Estimate packed_weight(const Call& call) {
  const TensorSpec *self = call.input_at(0), *out = call.output(0);
  if (!self || !out || out->sizes.empty()) return std::nullopt;
  return streaming(call, {.product = 2 * elements(*self) * out->sizes.back()});
}

/// 2:4 sparsity: only the two kept elements of four are multiplied. `kept` [M, K / 2], `dense` [K,
/// N].
Estimate half_of_product(const Call& call, const TensorSpec* kept, const TensorSpec* dense) {
  if (!kept || !dense || dense->sizes.size() < 2) return std::nullopt;
  return streaming(call, {.product = 2 * elements(*kept) * dense->sizes.back()});
}

/// (mat1, mat1_meta, mat2)
Estimate sparse_mm(const Call& call) {
  return half_of_product(call, call.input_at(0), call.input_at(2));
}
/// (input, mat1, mat1_meta, mat2)
Estimate sparse_addmm(const Call& call) {
  return half_of_product(call, call.input_at(1), call.input_at(3));
}
/// (input [M, K], weight [N, K / 2], meta)
Estimate sparse_linear(const Call& call) {
  const TensorSpec *input = call.input_at(0), *weight = call.input_at(1);
  if (!input || !weight || weight->sizes.empty()) return std::nullopt;
  return streaming(call, {.product = elements(*input) * weight->sizes[0]});
}
/// (compressed, dense [K, N]): half of 2·M·N·K.
Estimate cusparselt_mm(const Call& call) {
  const TensorSpec *dense = call.input_at(1), *out = call.output(0);
  if (!dense || !out || dense->sizes.empty()) return std::nullopt;
  return streaming(call, {.product = elements(*out) * dense->sizes[0]});
}

/// i1, i2 and i3, unsqueezed (…, expand1, expand2, expand3, sumdim): i1 · i2, summed over the
/// dimensions that i3 lacks, · i3, summed (native/Linear.cpp, _trilinear).
class Trilinear {
 public:
  explicit Trilinear(const Call& call) : call_(call) {
    for (int i = 0; i < 3; ++i)
      rank_ = std::max(rank_, call.input_at(i)->sizes.size() + dimensions(3 + i).size());
  }

  Count products() const {
    Count first = 1, second = 1;
    for (std::size_t dim = 0; dim < rank_; ++dim) {
      const bool is_first = has(0, dim) || has(1, dim);
      const bool is_summed = is_first && !has(2, dim) && contains(dimensions(6), dim);
      if (is_first) first = first * size(dim);
      if ((is_first && !is_summed) || has(2, dim)) second = second * size(dim);
    }
    return 2 * (first + second);
  }

 private:
  std::vector<std::int64_t> dimensions(int position) const {
    std::vector<std::int64_t> found;
    while (true) {
      const std::int64_t dim = call_.integer(position, found.size(), none);
      if (dim == none) return found;
      found.push_back(dim);
    }
  }

  static bool contains(const std::vector<std::int64_t>& all, std::size_t dim) {
    return std::ranges::find(all, static_cast<std::int64_t>(dim)) != all.end();
  }

  bool has(int input, std::size_t dim) const { return !contains(dimensions(3 + input), dim); }

  std::int64_t size(std::size_t dim) const {
    std::int64_t most = 1;
    for (int input = 0; input < 3; ++input) {
      if (!has(input, dim)) continue;
      std::size_t own = dim;
      for (const std::int64_t put : dimensions(3 + input))
        own -= put < static_cast<std::int64_t>(dim) ? 1 : 0;
      const std::vector<std::int64_t>& sizes = call_.input_at(input)->sizes;
      if (own < sizes.size()) most = std::max(most, sizes[own]);
    }
    return most;
  }

  const Call& call_;
  std::size_t rank_ = 0;
};

Estimate trilinear(const Call& call) {
  for (int i = 0; i < 3; ++i)
    if (!call.input_at(i)) return std::nullopt;
  return streaming(call, {.product = Trilinear(call).products()});
}

/// (input [S, K], weight [E, K, N], …): a product for each of the two gradients.
Estimate experts_backward(const Call& call) {
  const TensorSpec *input = call.input_at(0), *weight = call.input_at(1);
  if (!input || !weight || weight->sizes.empty()) return std::nullopt;
  const Count of_one = 2 * elements(*input) * weight->sizes.back();
  return streaming(call, {.product = 2 * of_one});
}

/// Every element of `matrix` [M, K] is multiplied with one vector element.
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

/// (self, grad_output, weight, output_mask): one product for each requested gradient of the two.
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
    {"aten::_weight_int4pack_mm", packed_weight},
    {"aten::_weight_int8pack_mm", packed_weight},
    {"aten::_mixed_dtypes_linear", packed_weight},
    {"aten::_sparse_semi_structured_mm", sparse_mm, Confidence::modelled},
    {"aten::_sparse_semi_structured_addmm", sparse_addmm, Confidence::modelled},
    {"aten::_sparse_semi_structured_linear", sparse_linear, Confidence::modelled},
    {"aten::_cslt_sparse_mm", cusparselt_mm, Confidence::modelled},
    {"aten::_sparse_semi_structured_tile", moves, Confidence::modelled},
    {"aten::_sparse_semi_structured_apply", moves, Confidence::modelled},
    {"aten::_sparse_semi_structured_apply_dense", moves, Confidence::modelled},
    {"aten::_to_sparse_semi_structured", moves, Confidence::modelled},
    {"aten::_cslt_compress", moves, Confidence::modelled},
    {"aten::_convert_weight_to_int4pack", moves},
    {"aten::_trilinear", trilinear},
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

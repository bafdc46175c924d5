// The definition of an optimizer rule.
#pragma once

#include <cstdint>
#include <string_view>

#include "workbench/optimize/editor.h"

namespace symprof::workbench {

/// The new operators that an optimized model may contain.
enum class Fused : std::uint8_t {
  none,       ///< None: no fused norms or activations.
  standard,   ///< All of ONNX's own at the model's opset.
  microsoft,  ///< Also those of ONNX Runtime.
  training,   ///< Also those of ONNX Runtime's training build.
};

struct Rule {
  std::string_view name, meaning;
  /// Changes the graph around a live node. Returns true if it did.
  bool (*apply)(Editor& editor, int node);
  Fused level = Fused::none;
  /// Applied only if the caller names it: its result does not suit every runtime or reader.
  bool only_by_name = false;
};

namespace rules {

/// The domain of ONNX Runtime's own operators.
constexpr const char* contrib_domain = "com.microsoft";

bool fold_constant(Editor& editor, int node);
bool drop_dead(Editor& editor, int node);
bool drop_identity(Editor& editor, int node);
bool drop_neutral(Editor& editor, int node);
bool merge_equal(Editor& editor, int node);
bool merge_casts(Editor& editor, int node);
bool fold_shape(Editor& editor, int node);
bool fold_cast_like(Editor& editor, int node);
bool constant_target_shape(Editor& editor, int node);
bool merge_transposes(Editor& editor, int node);
bool merge_reshapes(Editor& editor, int node);
bool drop_expand(Editor& editor, int node);
bool squeeze_in_reduce(Editor& editor, int node);
bool divide_by_root(Editor& editor, int node);
bool slices_to_split(Editor& editor, int node);
bool transpose_into_gemm(Editor& editor, int node);
bool shared_transpose_into_gemm(Editor& editor, int node);
bool undo_reshape(Editor& editor, int node);
bool merge_unsqueezes(Editor& editor, int node);
bool scatter_to_pad(Editor& editor, int node);
bool pads_to_concat(Editor& editor, int node);
bool norm_into_conv(Editor& editor, int node);
bool root_mean_square_norm(Editor& editor, int node);
bool layer_norm(Editor& editor, int node);
bool gelu(Editor& editor, int node);
bool quick_gelu(Editor& editor, int node);
bool fused_matmul(Editor& editor, int node);
bool shared_transpose_into_matmul(Editor& editor, int node);
bool scale_into_matmul(Editor& editor, int node);
bool transpose_of_product(Editor& editor, int node);
bool gemm_of_reshaped(Editor& editor, int node);
bool root_mean_square_norm_23(Editor& editor, int node);
bool skip_norm(Editor& editor, int node);
bool fused_conv(Editor& editor, int node);
bool fused_gemm(Editor& editor, int node);
bool merge_clips(Editor& editor, int node);
bool drop_double_not(Editor& editor, int node);
bool where_of_not(Editor& editor, int node);
bool merge_scalars(Editor& editor, int node);
bool merge_slices(Editor& editor, int node);
bool merge_concats(Editor& editor, int node);
bool concat_of_split(Editor& editor, int node);
bool unsqueeze_in_reduce(Editor& editor, int node);
bool element_of_sequence(Editor& editor, int node);
bool constant_branch(Editor& editor, int node);
bool sum_into_conv(Editor& editor, int node);
bool scale_into_conv(Editor& editor, int node);
bool pad_into_conv(Editor& editor, int node);
bool sum_into_gemm(Editor& editor, int node);
bool softmax_of_parts(Editor& editor, int node);
bool softmax_of_shifted(Editor& editor, int node);
bool softmax_gradient(Editor& editor, int node);
bool layer_norm_without_bias(Editor& editor, int node);
bool gelu_of_tanh(Editor& editor, int node);
bool contrib_gelu(Editor& editor, int node);
bool bias_gelu(Editor& editor, int node);
bool hard_sigmoid(Editor& editor, int node);
bool hard_swish(Editor& editor, int node);
bool leaky_relu(Editor& editor, int node);
bool attention(Editor& editor, int node);
bool multi_head_attention(Editor& editor, int node);
bool group_query_attention(Editor& editor, int node);
bool rotary_embedding(Editor& editor, int node);
bool contrib_rotary_embedding(Editor& editor, int node);
bool group_norm(Editor& editor, int node);
bool into_group_norm(Editor& editor, int node);
bool pad_into_pool(Editor& editor, int node);
bool join_products(Editor& editor, int node);
bool einsum(Editor& editor, int node);
bool einsum_of_turned(Editor& editor, int node);
bool requantize(Editor& editor, int node);
bool matmul_of_blocks(Editor& editor, int node);
bool bias_softmax(Editor& editor, int node);
bool embed_layer_norm(Editor& editor, int node);

}  // namespace rules
}  // namespace symprof::workbench

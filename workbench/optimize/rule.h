// What a rule of the optimizer is.
#pragma once

#include <cstdint>
#include <string_view>

#include "workbench/optimize/editor.h"

namespace symprof::workbench {

/// Which operators an optimized model may have that it had not.
enum class Fused : std::uint8_t {
  none,       ///< Those of the same kind: no norms or activations as one node.
  standard,   ///< All of ONNX's own at the model's opset.
  microsoft,  ///< And those of ONNX Runtime.
};

struct Rule {
  std::string_view name, meaning;
  /// Changes the graph around a live node, and says whether it did.
  bool (*apply)(Editor& editor, int node);
  Fused level = Fused::none;
};

namespace rules {

/// ONNX Runtime's own operators.
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

}  // namespace rules
}  // namespace symprof::workbench

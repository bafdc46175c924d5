#include "workbench/optimize/rule_table.h"

namespace symprof::workbench {
namespace {

constexpr Rule rules_in_order[] = {
    {"constant_folding", "nodes of constants become initializers", rules::fold_constant},
    {"shape_of_known", "Shape of known sizes is a constant", rules::fold_shape},
    {"cast_like", "CastLike of a constant is a constant", rules::fold_cast_like},
    {"dead", "nodes that nothing reads go", rules::drop_dead},
    {"identity", "nodes that change nothing go", rules::drop_identity},
    {"neutral", "sums with 0 and products with 1 go", rules::drop_neutral},
    {"equal", "equal nodes become one", rules::merge_equal},
    {"cast_cast", "a Cast to a wider type before another goes", rules::merge_casts},
    {"constant_shape", "a Reshape of known sizes has a constant shape",
     rules::constant_target_shape},
    {"transpose_transpose", "two Transposes become one", rules::merge_transposes},
    {"reshape_reshape", "Reshape, Squeeze, Unsqueeze, Flatten after one another become one",
     rules::merge_reshapes},
    {"reshape_back", "a Reshape that undoes the one before it goes", rules::undo_reshape},
    {"unsqueeze_unsqueeze", "two Unsqueezes become one", rules::merge_unsqueezes},
    {"scatter_pad", "ScatterND into zeros is Pad", rules::scatter_to_pad},
    {"pads_concat", "a sum of Pads that fill one another is Concat", rules::pads_to_concat},
    {"expand", "an Expand that broadcasting does goes", rules::drop_expand},
    {"reduce_squeeze", "a Squeeze after a reduction goes into it", rules::squeeze_in_reduce},
    {"reciprocal_sqrt", "Mul by Reciprocal of Sqrt is Div by Sqrt", rules::divide_by_root},
    {"slices_split", "Slices that cover an axis become a Split", rules::slices_to_split},
    {"transpose_gemm", "Transposes of matrices go into Gemm", rules::transpose_into_gemm},
    {"shared_transpose_gemm", "a Transpose that only Gemms read goes into all of them",
     rules::shared_transpose_into_gemm},
    {"conv_batch_norm", "a BatchNormalization goes into the weights of a Conv",
     rules::norm_into_conv},
    {"layer_norm", "LayerNormalization from its parts", rules::layer_norm, Fused::standard},
    {"gelu", "Gelu from its parts", rules::gelu, Fused::standard},
    {"rms_norm_23", "RMSNormalization from its parts, from opset 23 on",
     rules::root_mean_square_norm_23, Fused::standard},
    {"rms_norm", "SimplifiedLayerNormalization from its parts", rules::root_mean_square_norm,
     Fused::microsoft},
    {"skip_norm", "a sum and its norm as one node", rules::skip_norm, Fused::microsoft},
    {"quick_gelu", "x · Sigmoid(x) as QuickGelu", rules::quick_gelu, Fused::microsoft},
    {"fused_matmul", "Transposes and scales go into FusedMatMul", rules::fused_matmul,
     Fused::microsoft},
    {"shared_transpose_matmul", "a Transpose that only products read goes into all of them",
     rules::shared_transpose_into_matmul, Fused::microsoft},
    {"scale_matmul", "a scale that only products read goes into all of them",
     rules::scale_into_matmul, Fused::microsoft},
    {"transpose_matmul", "the Transpose of a product goes into it", rules::transpose_of_product,
     Fused::microsoft},
    {"reshape_gemm", "Reshapes around a Gemm of rows go into FusedMatMul", rules::gemm_of_reshaped,
     Fused::microsoft},
    {"fused_conv", "a Relu goes into FusedConv", rules::fused_conv, Fused::microsoft},
};

}  // namespace

std::span<const Rule> all_rules() { return rules_in_order; }

}  // namespace symprof::workbench

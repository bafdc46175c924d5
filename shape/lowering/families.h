// Families of ONNX operators: one file each, declared and listed here.
#pragma once

#include <array>
#include <span>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

using Lowerings = std::span<const Lowering>;

Lowerings activation_lowerings();
Lowerings arithmetic_lowerings();
Lowerings arrangement_lowerings();
Lowerings attention_lowerings();
Lowerings comparison_lowerings();
Lowerings convolution_lowerings();
Lowerings generation_lowerings();
Lowerings indexing_lowerings();
Lowerings learning_lowerings();
Lowerings matmul_lowerings();
Lowerings microsoft_attention_lowerings();
Lowerings microsoft_blockwise_lowerings();
Lowerings microsoft_convolution_lowerings();
Lowerings microsoft_copies_lowerings();
Lowerings microsoft_embedding_lowerings();
Lowerings microsoft_fusion_lowerings();
Lowerings microsoft_grouped_lowerings();
Lowerings microsoft_mixture_lowerings();
Lowerings microsoft_ordered_lowerings();
Lowerings microsoft_packed_lowerings();
Lowerings microsoft_packed_product_lowerings();
Lowerings microsoft_product_lowerings();
Lowerings microsoft_quantized_lowerings();
Lowerings microsoft_rotary_lowerings();
Lowerings normalization_lowerings();
Lowerings pooling_lowerings();
Lowerings quantization_lowerings();
Lowerings recurrent_lowerings();
Lowerings reduction_lowerings();
Lowerings resize_lowerings();
Lowerings selection_lowerings();
Lowerings shape_lowerings();
Lowerings signal_lowerings();
Lowerings torchvision_lowerings();
Lowerings training_lowerings();
Lowerings vision_lowerings();

inline constexpr std::array families = {
    activation_lowerings,
    arithmetic_lowerings,
    arrangement_lowerings,
    attention_lowerings,
    comparison_lowerings,
    convolution_lowerings,
    generation_lowerings,
    indexing_lowerings,
    learning_lowerings,
    matmul_lowerings,
    normalization_lowerings,
    pooling_lowerings,
    reduction_lowerings,
    resize_lowerings,
    shape_lowerings,
    quantization_lowerings,
    recurrent_lowerings,
    microsoft_attention_lowerings,
    microsoft_blockwise_lowerings,
    microsoft_convolution_lowerings,
    microsoft_copies_lowerings,
    microsoft_embedding_lowerings,
    microsoft_fusion_lowerings,
    microsoft_grouped_lowerings,
    microsoft_mixture_lowerings,
    microsoft_ordered_lowerings,
    microsoft_packed_lowerings,
    microsoft_packed_product_lowerings,
    microsoft_product_lowerings,
    microsoft_quantized_lowerings,
    microsoft_rotary_lowerings,
    selection_lowerings,
    signal_lowerings,
    torchvision_lowerings,
    training_lowerings,
    vision_lowerings,
};

}  // namespace symprof::lowering

// Rules of products: matrices, convolutions, attention, recurrent layers. One row for each case,
// the expectation is the formula.
#include <doctest/doctest.h>

#include "profile/operators/operators.h"
#include "tests/support/rule_cases.h"

namespace symprof::test {
TEST_SUITE("flops_products") {
  TEST_CASE("matrix products are 2·M·N·K") {
    check({
        {"aten::mm", {t({M, K}), t({K, N})}, {tensor({M, N})}, 2 * M * N * K},
        {"aten::mm", {t({M, 0}), t({0, N})}, {tensor({M, N})}, 0},
        {"aten::addmm", {t({N}), t({M, K}), t({K, N})}, {tensor({M, N})}, 2 * M * N * K},
        {"aten::bmm", {t({B, M, K}), t({B, K, N})}, {tensor({B, M, N})}, 2 * B * M * N * K},
        {"aten::baddbmm",
         {t({B, M, N}), t({B, M, K}), t({B, K, N})},
         {tensor({B, M, N})},
         2 * B * M * N * K},
        {"aten::addbmm",
         {t({M, N}), t({B, M, K}), t({B, K, N})},
         {tensor({M, N})},
         2 * B * M * N * K},
        {"aten::_scaled_mm", {t({M, K}), t({K, N}), t({}), t({})}, {tensor({M, N})}, 2 * M * N * K},
        {"aten::mv", {t({M, K}), t({K})}, {tensor({M})}, 2 * M * K},
        {"aten::addmv", {t({M}), t({M, K}), t({K})}, {tensor({M})}, 2 * M * K},
        {"aten::dot", {t({K}), t({K})}, {tensor({})}, 2 * K},
        {"aten::linear", {t({B, M, K}), t({N, K}), t({N})}, {tensor({B, M, N})}, 2 * B * M * K * N},
        {"aten::linear_backward",
         {t({M, K}), t({M, N}), t({N, K}), ints({0, 1, 1})},
         {tensor({M, K}), tensor({N, K}), tensor({N})},
         2 * M * K * N},
    });
  }

  TEST_CASE("quantized weights and 2:4 sparse weights") {
    const auto packed = t({N / 8 + 1, 1, 32, 4}, DType::int32);
    check({
        {"aten::_weight_int4pack_mm",
         {t({M, K}), packed, ints({32}), t({1, 8, 2})},
         {tensor({M, 8})},
         2 * M * 8 * K},
        {"aten::_weight_int8pack_mm",
         {t({M, K}), t({N, K}), t({N})},
         {tensor({M, N})},
         2 * M * N * K},
        {"aten::_mixed_dtypes_linear",
         {t({B, M, K}), t({K, N}), t({N})},
         {tensor({B, M, N})},
         2 * B * M * N * K},
        {"aten::_sparse_semi_structured_mm",
         {t({M, K}), t({M, 1}), t({2 * K, N})},
         {tensor({M, N})},
         2 * M * N * K},
        {"aten::_sparse_semi_structured_addmm",
         {t({M}), t({M, K}), t({M, 1}), t({2 * K, N})},
         {tensor({M, N})},
         2 * M * N * K},
        {"aten::_sparse_semi_structured_linear",
         {t({M, 2 * K}), t({N, K}), t({N, 1})},
         {tensor({M, N})},
         2 * M * N * K},
        {"aten::_cslt_sparse_mm", {t({M, K}), t({2 * K, N})}, {tensor({M, N})}, 2 * M * N * K},
    });
  }

  TEST_CASE("a bilinear layer is two products") {
    constexpr std::int64_t first = 4, second = 6, features = 5;
    check({{"aten::_trilinear",
            {t({M, first}), t({features, first, second}), t({M, second}), ints({1, 3}), ints({0}),
             ints({1, 2}), ints({2, 3}), ints({1})},
            {tensor({M, features})},
            2 * M * features * first * second + 2 * M * features * second}});
  }

  TEST_CASE("torchvision's RoI and box operators") {
    constexpr std::int64_t R = 9, C = 4, side = 7, ratio = 2, kernel = 3;
    const auto image = t({B, C, 20, 20}), regions = t({R, 5});
    const std::int64_t sampled = 8 * R * C * side * side * ratio * ratio;
    check({
        {"torchvision::roi_align",
         {image, regions, nothing(), ints({side}), ints({side}), ints({ratio}), ints({0})},
         {tensor({R, C, side, side})},
         0,
         sampled},
        // Without a ratio: a sample for each pixel of the largest region, the image, in each bin.
        {"torchvision::roi_align",
         {image, regions, nothing(), ints({side}), ints({side}), ints({0}), ints({0})},
         {tensor({R, C, side, side})},
         0,
         8 * R * C * side * side * ((20 + side - 1) / side) * ((20 + side - 1) / side)},
        {"torchvision::_roi_align_backward",
         {t({R, C, side, side}), regions, nothing(), ints({side}), ints({side}), ints({B}),
          ints({C}), ints({20}), ints({20}), ints({ratio}), ints({0})},
         {tensor({B, C, 20, 20})},
         0,
         sampled},
        {"torchvision::nms",
         {t({R, 4}), t({R})},
         {tensor({R}, DType::int64)},
         0,
         13 * R * (R - 1) / 2},
        {"torchvision::deform_conv2d",
         {image, t({N, C, kernel, kernel}), t({B, 2 * kernel * kernel, 18, 18}), t({B, 0, 18, 18}),
          t({N})},
         {tensor({B, N, 18, 18})},
         2 * B * N * 18 * 18 * C * kernel * kernel,
         8 * B * 18 * 18 * C * kernel * kernel},
    });
  }

  TEST_CASE("grouped products cover the split dimension once") {
    const auto offsets = t({4}, DType::int32);
    check({
        {"aten::_grouped_mm", {t({M, K}), t({4, K, N}), offsets}, {tensor({M, N})}, 2 * M * K * N},
        {"aten::_grouped_mm", {t({4, M, K}), t({K, N}), offsets}, {tensor({M, N})}, 2 * M * K * N},
        {"aten::_grouped_mm", {t({M, K}), t({K, N}), offsets}, {tensor({4, M, N})}, 2 * M * K * N},
        {"aten::_grouped_mm", {t({B, M, K}), t({B, K, N})}, {tensor({B, M, N})}, 2 * B * M * K * N},
        {"transformers::grouped_mm_fallback",
         {t({M, K}), t({4, K, N}), offsets},
         {tensor({M, N})},
         2 * M * K * N},
        {"transformers::grouped_mm_fallback_backward",
         {t({M, K}), t({4, K, N}), offsets, t({M, N})},
         {tensor({M, K}), tensor({4, K, N})},
         2 * 2 * M * K * N},
    });
  }

  TEST_CASE("convolutions: each weight element at each position of each image") {
    const auto none_given = nothing();
    const auto one = ints({1, 1}), no = ints({0});
    const std::vector<TestArgument> plain = {
        t({B, 6, 9, 9}), t({4, 6, 3, 3}), none_given, one, one, one, no, one, ints({1})};
    std::vector<TestArgument> grouped = plain, transposed = plain;
    grouped[1] = t({4, 3, 3, 3});
    grouped[8] = ints({2});
    transposed[1] = t({6, 4, 3, 3});
    transposed[6] = ints({1});
    check({
        {"aten::convolution", plain, {tensor({B, 4, 7, 8})}, 2 * B * (7 * 8) * (4 * 6 * 3 * 3)},
        {"aten::convolution", grouped, {tensor({B, 4, 7, 7})}, 2 * B * (7 * 7) * (4 * 3 * 3 * 3)},
        {"aten::convolution",
         transposed,
         {tensor({B, 4, 11, 11})},
         2 * B * (9 * 9) * (6 * 4 * 3 * 3)},
        {"aten::cudnn_convolution",
         {t({B, 6, 9}), t({4, 6, 3}), ints({0}), ints({1}), ints({1}), ints({1}), ints({1})},
         {tensor({B, 4, 7})},
         2 * B * 7 * (4 * 6 * 3)},
    });
  }

  TEST_CASE("a convolution's backward takes the forward's products per requested gradient") {
    const auto backward = [](Sizes weight, std::int64_t transposed, std::int64_t groups,
                             std::vector<std::int64_t> mask) {
      return std::vector<TestArgument>{t({B, 4, 7, 7}), t({B, 6, 9, 9}),      t(weight),
                                       ints({4}),       ints({1, 1}),         ints({0, 0}),
                                       ints({1, 1}),    ints({transposed}),   ints({0, 0}),
                                       ints({groups}),  ints(std::move(mask))};
    };
    const std::vector<TensorSpec> gradients = {tensor({B, 6, 9, 9}), tensor({4, 6, 3, 3}),
                                               tensor({4})};
    const std::int64_t forward = 2 * B * (7 * 7) * (4 * 6 * 3 * 3);
    check({
        {"aten::convolution_backward", backward({4, 6, 3, 3}, 0, 1, {1, 1, 1}), gradients,
         2 * forward},
        {"aten::convolution_backward", backward({4, 6, 3, 3}, 0, 1, {0, 1, 1}), gradients, forward},
        {"aten::convolution_backward", backward({4, 6, 3, 3}, 0, 1, {0, 0, 1}), gradients, 0},
        // Two groups: half the weights, half the products.
        {"aten::convolution_backward", backward({4, 3, 3, 3}, 0, 2, {1, 1, 0}), gradients, forward},
        {"aten::convolution_backward", backward({6, 4, 3, 3}, 1, 1, {1, 0, 0}), gradients,
         2 * B * (9 * 9) * (6 * 4 * 3 * 3)},
    });
  }

  TEST_CASE("attention: two products forward, five backward") {
    constexpr std::int64_t H = 8, S = 16, T = 32, E = 64, F = 48;
    const auto q = t({B, H, S, E}), k = t({B, 2, T, E}), v = t({B, 2, T, F});
    const auto out = tensor({B, H, S, F}), lse = tensor({B, H, S});
    const std::int64_t scores = B * H * S * T;
    const auto known = [](Sizes offsets) {
      return TestArgument{{tensor({static_cast<std::int64_t>(offsets.size())}, DType::int32)},
                          std::move(offsets)};
    };
    check({
        {"aten::_scaled_dot_product_flash_attention", {q, k, v}, {out, lse}, 2 * scores * (E + F)},
        {"aten::_scaled_dot_product_efficient_attention",
         {q, k, v},
         {out, lse},
         2 * scores * (E + F)},
        {"aten::_scaled_dot_product_flash_attention_for_cpu",
         {q, k, v},
         {out, lse},
         2 * scores * (E + F)},
        {"aten::_scaled_dot_product_cudnn_attention_backward",
         {t({B, H, S, F}), q, k, v},
         {tensor({B, H, S, E}), tensor({B, 2, T, E}), tensor({B, 2, T, F})},
         2 * scores * (3 * E + 2 * F)},
        // FlexAttention with 384 scores kept by its block mask.
        {"symprof::flex_attention",
         {q, k, v, t({1, 1, 2}, DType::int32), t({}), ints({384})},
         {out, lse, lse},
         2 * 384 * (E + F)},
        // The kernel below has heads and sequence swapped.
        {"aten::_flash_attention_forward",
         {t({B, S, H, E}), t({B, T, H, E}), t({B, T, H, F})},
         {tensor({B, S, H, F})},
         2 * scores * (E + F)},
        // Packed sequences count with the maximum length.
        {"aten::_flash_attention_forward",
         {t({40, H, E}), t({50, H, E}), t({50, H, F}), t({B + 1}, DType::int32),
          t({B + 1}, DType::int32), ints({S}), ints({T})},
         {tensor({40, H, F})},
         2 * scores * (E + F)},
        // With known offsets, each counts with its own length.
        {"aten::_flash_attention_forward",
         {t({40, H, E}), t({50, H, E}), t({50, H, F}), known({0, 10, 40}), known({0, 20, 50}),
          ints({30}), ints({30})},
         {tensor({40, H, F})},
         2 * H * (10 * 20 + 30 * 30) * (E + F)},
        {"torch_attn::_varlen_attn",
         {t({40, H, E}), t({50, H, E}), t({50, H, F}), t({B + 1}, DType::int32),
          t({B + 1}, DType::int32), ints({S}), ints({T})},
         {tensor({40, H, F})},
         2 * scores * (E + F)},
        {"torch_attn::_varlen_attn_backward",
         {t({40, H, F}), t({40, H, E}), t({50, H, E}), t({50, H, F}), t({40, H, F}), t({H, 40}),
          t({B + 1}, DType::int32), t({B + 1}, DType::int32), ints({S}), ints({T})},
         {tensor({40, H, E}), tensor({50, H, E}), tensor({50, H, F})},
         2 * scores * (3 * E + 2 * F)},
        {"aten::_cudnn_attention_forward",
         {t({40, H, E}), t({50, H, E}), t({50, H, F}), nothing(), t({B + 1}, DType::int32),
          t({B + 1}, DType::int32), ints({S}), ints({T})},
         {tensor({40, H, F})},
         2 * scores * (E + F)},
        // Three biases and a scale, between the products.
        {"aten::_transform_bias_rescale_qkv",
         {t({B, S, 3 * H * E}), t({3 * H * E})},
         {tensor({B, H, S, E}), tensor({B, H, S, E}), tensor({B, H, S, E})},
         0,
         4 * B * H * S * E},
    });
  }

  TEST_CASE("a recurrent layer multiplies each weight matrix at each step") {
    constexpr std::int64_t steps = 11, in = 5, hidden = 6;
    const auto weights = list({{4 * hidden, in}, {4 * hidden, hidden}, {4 * hidden}, {4 * hidden}});
    const std::int64_t elements = 4 * hidden * (in + hidden);
    check({{"aten::_cudnn_rnn",
            {t({steps, B, in}), weights, ints({4}), nothing(), t({1, B, hidden})},
            {tensor({steps, B, hidden})},
            2 * steps * B * elements}});
    // Under autocast biases have two dimensions.
    const auto casted =
        list({{4 * hidden, in}, {4 * hidden, hidden}, {4 * hidden, 1}, {4 * hidden, 1}});
    check({{"aten::_cudnn_rnn",
            {t({steps, B, in}), casted, ints({4}), nothing(), t({1, B, hidden})},
            {tensor({steps, B, hidden})},
            2 * steps * B * elements}});
  }
}

}  // namespace symprof::test

// Rules of operators other than products, and their look-up: one row per case, the expectation is
// the formula.
#include <doctest/doctest.h>

#include "base/error.h"
#include "profile/operators/families.h"
#include "profile/operators/operators.h"
#include "tests/support/rule_cases.h"

namespace symprof::test {
TEST_SUITE("flops") {
  TEST_CASE("point-wise operators count operations per result element") {
    check({
        {"aten::add", {t({M, 1}), t({1, N})}, {tensor({M, N})}, 0, M * N},
        {"aten::add_", {t({M, N}), t({N})}, {tensor({M, N})}, 0, M * N},
        {"aten::mul", {t({M, N}), t({})}, {tensor({M, N})}, 0, M * N},
        {"aten::addcmul", {t({M}), t({M}), t({M})}, {tensor({M})}, 0, 3 * M},
        {"aten::where", {t({M}), t({M}), t({M})}, {tensor({M})}, 0, 0},
        {"aten::__and__", {t({M}), t({M})}, {tensor({M})}, 0, M},
        {"aten::exp", {t({M, N})}, {tensor({M, N})}, 0, M * N},
        {"aten::add", {t({0, N}), t({N})}, {tensor({0, N})}, 0, 0},
    });
  }

  TEST_CASE("activations and softmax") {
    const auto x = t({B, M, N});
    const auto y = tensor({B, M, N});
    check({
        {"aten::relu", {x}, {y}, 0, B * M * N},
        {"aten::gelu", {x}, {y}, 0, B * M * N},
        {"aten::gelu_backward", {x, x}, {y}, 0, B * M * N},
        {"aten::threshold_backward", {x, x}, {y}, 0, B * M * N},
        {"aten::tanh_backward", {x, x}, {y}, 0, 3 * B * M * N},
        {"aten::native_dropout", {x}, {y, tensor({B, M, N}, DType::boolean)}, 0, 2 * B * M * N},
        {"aten::_softmax", {x, ints({-1})}, {y}, 0, B * M * N},
        {"aten::_log_softmax_backward_data", {x, x}, {y}, 0, B * M * N},
    });
  }

  TEST_CASE("normalization: 5 FLOPs per element with a weight, 4 without") {
    const auto x = t({B, M, N}), stat = t({B, M}), w = t({N}), c = t({M});
    const auto y = tensor({B, M, N});
    check({
        {"aten::native_layer_norm", {x, ints({N}), w, w}, {y}, 0, 5 * B * M * N},
        {"aten::native_layer_norm", {x, ints({N})}, {y}, 0, 4 * B * M * N},
        {"aten::native_layer_norm_backward",
         {x, x, ints({N}), stat, stat, w, w, ints({1, 1, 1})},
         {y},
         0,
         5 * B * M * N},
        {"aten::native_group_norm", {x, c, c}, {y}, 0, 5 * B * M * N},
        {"aten::native_batch_norm", {x, c, c, c, c, ints({1})}, {y}, 0, 5 * B * M * N},
        {"aten::native_batch_norm", {x, c, c, c, c, ints({0})}, {y}, 0, 2 * B * M * N},
        {"aten::cudnn_batch_norm_backward", {x, x, c}, {y}, 0, 5 * B * M * N},
        {"aten::_fused_rms_norm", {x, ints({N}), w}, {y}, 0, 4 * B * M * N},
    });
  }

  TEST_CASE("reductions count input elements") {
    check({
        {"aten::sum", {t({B, M, N}), ints({0, 1})}, {tensor({N})}, 0, B * M * N},
        {"aten::mean", {t({M, N})}, {tensor({})}, 0, M * N},
        {"aten::var", {t({M, N})}, {tensor({M})}, 0, 4 * M * N},
        {"aten::cumsum", {t({M, N})}, {tensor({M, N})}, 0, M * N},
        {"aten::sum", {t({0})}, {tensor({})}, 0, 0},
    });
  }

  TEST_CASE("pooling counts the elements of its windows") {
    const auto x = t({B, M, 8, 8}), gradient = t({B, M, 4, 4});
    check({
        {"aten::max_pool2d_with_indices",
         {x, ints({3, 2}), ints({2, 2})},
         {tensor({B, M, 4, 4}), tensor({B, M, 4, 4}, DType::int64)},
         0,
         (3 * 2) * B * M * 4 * 4},
        {"aten::avg_pool2d", {x, ints({2})}, {tensor({B, M, 4, 4})}, 0, 4 * B * M * 4 * 4},
        {"aten::avg_pool2d_backward",
         {gradient, x, ints({2, 2})},
         {tensor({B, M, 8, 8})},
         0,
         4 * B * M * 4 * 4},
        {"aten::_adaptive_avg_pool2d", {x, ints({1, 1})}, {tensor({B, M, 1, 1})}, 0, B * M * 8 * 8},
        {"aten::upsample_bilinear2d", {gradient}, {tensor({B, M, 8, 8})}, 0, 8 * B * M * 8 * 8},
        {"aten::upsample_nearest2d", {gradient}, {tensor({B, M, 8, 8})}, 0, 0},
    });
  }

  TEST_CASE("simulated quantization: seven operations, two more for an observer's extremes") {
    const auto mask = tensor({M, N}, DType::boolean);
    check({
        {"aten::fake_quantize_per_tensor_affine_cachemask",
         {t({M, N})},
         {tensor({M, N}), mask},
         0,
         7 * M * N},
        {"aten::fake_quantize_per_channel_affine_cachemask",
         {t({M, N}), t({N})},
         {tensor({M, N}), mask},
         0,
         7 * M * N},
        {"aten::_fused_moving_avg_obs_fq_helper",
         {t({M, N})},
         {tensor({M, N}), mask},
         0,
         (7 + 2) * M * N},
        {"aten::_fake_quantize_learnable_per_tensor_affine_backward",
         {t({M, N}), t({M, N})},
         {tensor({M, N}), tensor({1}), tensor({1})},
         0,
         16 * M * N},
    });
  }

  TEST_CASE("look-ups, losses, random numbers, transforms") {
    const auto targets = t({B}, DType::int64);
    check({
        {"aten::embedding", {t({100, K}), t({B, M}, DType::int64)}, {tensor({B, M, K})}, 0, 0},
        {"aten::embedding_dense_backward",
         {t({B, M, K}), t({B, M}, DType::int64), ints({100})},
         {tensor({100, K})},
         0,
         B * M * K},
        // N indices in B bags: a sum (mode 0), then the maxima (mode 2).
        {"aten::_embedding_bag_backward",
         {t({B, K}), t({N}, DType::int64), t({B}, DType::int64), t({N}, DType::int64),
          t({B}, DType::int64), t({0}, DType::int64), ints({100}), ints({0}), ints({0})},
         {tensor({100, K})},
         0,
         N * K},
        {"aten::_embedding_bag_dense_backward",
         {t({B, K}), t({N}, DType::int64), t({N}, DType::int64), t({B}, DType::int64),
          t({B, K}, DType::int64), ints({100}), ints({0}), ints({2})},
         {tensor({100, K})},
         0,
         B * K},
        {"aten::scatter_add",
         {t({M, N}), ints({0}), t({M, N}, DType::int64), t({M, N})},
         {tensor({M, N})},
         0,
         M * N},
        // log_probs [T, N, C] with T = M, N = B, C = K; two targets in each sequence: five states.
        {"aten::_ctc_loss",
         {t({M, B, K}), t({B, 2}, DType::int64)},
         {tensor({B}), tensor({B, M, 5})},
         0,
         13 * B * M * 5},
        {"aten::_ctc_loss_backward",
         {t({B}), t({M, B, K}), t({B, 2}, DType::int64), ints({M}), ints({2}), t({B}),
          t({B, M, 5})},
         {tensor({M, B, K})},
         0,
         18 * B * M * 5 + 5 * M * B * K},
        {"aten::sort", {t({8, 16})}, {tensor({8, 16}), tensor({8, 16})}, 0, 4 * 8 * 16},
        {"aten::nll_loss_forward", {t({B, 100}), targets}, {tensor({}), tensor({})}, 0, B},
        {"aten::nll_loss_backward", {t({}), t({B, 100}), targets}, {tensor({B, 100})}, 0, B},
        {"aten::mse_loss", {t({B, N}), t({B, N})}, {tensor({})}, 0, 3 * B * N},
        {"aten::normal_", {t({B, N})}, {tensor({B, N})}, 0, B * N},
        {"aten::_fft_c2c", {t({B, 16}), ints({1})}, {tensor({B, 16})}, 0, 5 * B * 16 * 4},
    });
  }

  TEST_CASE("optimizer steps count the elements of their lists") {
    const auto p = list({{M, K}, {N}});
    const std::int64_t all = M * K + N;
    check({
        {"aten::_foreach_add_", {p, p}, {}, 0, all},
        {"aten::_foreach_addcdiv_", {p, p, p}, {}, 0, 3 * all},
        {"aten::_foreach_sqrt", {p}, {tensor({M, K}), tensor({N})}, 0, all},
        {"aten::_fused_adamw_", {p, p, p, p, list({}), list({{}, {}})}, {}, 0, 15 * all},
        {"aten::_fused_sgd_", {p, p, p}, {}, 0, 7 * all},
        {"aten::_fused_sgd_", {p, p, list({})}, {}, 0, 4 * all},
    });
  }

  TEST_CASE("views are free and copies are exact without FLOPs") {
    check({
        {"aten::view", {t({M, N}), ints({N, M})}, {tensor({N, M})}},
        {"aten::cat", {list({{M}, {N}}), ints({0})}, {tensor({M + N})}},
        {"aten::clone", {t({M})}, {tensor({M})}},
        {"aten::zeros", {ints({M})}, {tensor({M})}},
    });
    CHECK(profile::find_operator("aten::view").flops->confidence == Confidence::free);
    CHECK(profile::find_operator("aten::clone").flops->confidence == Confidence::exact);
    CHECK(profile::find_operator("aten::gelu").flops->confidence == Confidence::modelled);
  }

  TEST_CASE("every family has rows, and no operator is listed twice") {
    for (const profile::Family& family : profile::families) {
      CAPTURE(family.name);
      CHECK(!family.flops().empty());
      if (family.scratch != nullptr) CHECK(!family.scratch().empty());
    }
    CHECK_NOTHROW(profile::OperatorTable{profile::families});
    CHECK(profile::operators().size() > 500);
    const profile::Family twice[] = {{"matmul", profile::matmul_rules},
                                     {"again", profile::matmul_rules}};
    CHECK_THROWS_WITH_AS(profile::OperatorTable{twice}, doctest::Contains("two rules for aten::mm"),
                         Error);
  }

  TEST_CASE("all rules of an operator are in one family") {
    const profile::Operator found = profile::find_operator("aten::sort");
    CHECK(found.family == "sorting");
    CHECK(found.flops != nullptr);
    CHECK((found.scratch != nullptr));
    const profile::Family apart[] = {{"matmul", profile::matmul_rules},
                                     {"products", nullptr, profile::matmul_scratch}};
    CHECK_THROWS_WITH_AS(profile::OperatorTable{apart},
                         doctest::Contains("aten::mm has a rule in the family matmul"), Error);
    // Only the in-place form has a rule here: it is still in the plain operator's family.
    static constexpr profile::ScratchRule in_place[] = {{"aten::addmm_", profile::unknown_scratch}};
    const profile::Family split[] = {
        {"matmul", profile::matmul_rules},
        {"products", nullptr, [] { return profile::ScratchRules(in_place); }}};
    CHECK_THROWS_AS(profile::OperatorTable{split}, Error);
  }

  TEST_CASE("an in-place operator does not inherit scratch rules") {
    CHECK((profile::find_operator("aten::pow").scratch != nullptr));
    CHECK((profile::find_operator("aten::pow_").scratch == nullptr));
    CHECK(profile::find_operator("aten::pow_").flops == profile::find_operator("aten::pow").flops);
    CHECK(profile::find_operator("acme::fused_attention").family.empty());
  }

  TEST_CASE("an in-place name finds the plain row, a dunder operator only its own") {
    CHECK(profile::find_operator("aten::add_").flops == profile::find_operator("aten::add").flops);
    CHECK(profile::find_operator("aten::bernoulli_").flops !=
          profile::find_operator("aten::bernoulli").flops);
    CHECK(profile::find_operator("aten::__and__").flops);
    CHECK_FALSE(profile::find_operator("aten::__div__").flops);
    CHECK_FALSE(profile::find_operator("aten::add__").flops);
    CHECK_FALSE(profile::find_operator("acme::fused_attention").flops);
  }

  TEST_CASE("a form not covered by a rule has no estimate") {
    RecordingBuilder builder;
    builder.node("node");
    builder.call("aten::mm", {t({K}), t({K})}, {tensor({})});
    const auto& recording = builder.recording();
    const profile::Call call(recording, recording.calls.front());
    CHECK_FALSE(profile::find_operator("aten::mm").flops->estimate(call).has_value());
  }

  TEST_CASE("a count beyond 64 bits is an error") {
    constexpr std::int64_t m = std::int64_t{1} << 20, k = std::int64_t{1} << 30;
    const RuleCase test{"aten::mm", {t({m, k}), t({k, m})}, {tensor({1, 1})}};
    CHECK_THROWS_WITH_AS(cost_of(test), doctest::Contains("64 bits"), Error);
  }
}

}  // namespace symprof::test

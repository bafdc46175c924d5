// The rules of each family: one row for each case, the expectation is the formula.
#include <doctest/doctest.h>

#include "meta/error.h"
#include "profile/families.h"
#include "recording_builder.h"

namespace symprof::test {
namespace {

struct RuleCase {
  const char* op;
  std::vector<TestArgument> arguments;
  std::vector<TensorSpec> outputs;
  std::int64_t product_flops = 0;
  std::int64_t other_flops = 0;
};

Cost cost_of(const RuleCase& test) {
  RecordingBuilder builder;
  builder.node("node");
  builder.call(test.op, test.arguments, test.outputs);
  const profile::Rule* rule = profile::find_rule(test.op);
  REQUIRE_MESSAGE(rule, test.op);
  const auto& recording = builder.recording();
  const auto estimate = rule->estimate(profile::Call(recording, recording.calls.front()));
  REQUIRE_MESSAGE(estimate.has_value(), test.op);
  return *estimate;
}

void check(const std::vector<RuleCase>& cases) {
  for (const RuleCase& test : cases) {
    CAPTURE(test.op);
    const Cost cost = cost_of(test);
    CHECK(cost.product_flops == test.product_flops);
    CHECK(cost.other_flops == test.other_flops);
  }
}

constexpr std::int64_t M = 3, K = 5, N = 7, B = 2;

}  // namespace

TEST_SUITE("flops") {
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

  TEST_CASE("convolutions: every weight element at every position of every image") {
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

  TEST_CASE("a convolution's backward takes the forward's products for each gradient asked for") {
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
        // The kernel below has heads and sequence the other way round.
        {"aten::_flash_attention_forward",
         {t({B, S, H, E}), t({B, T, H, E}), t({B, T, H, F})},
         {tensor({B, S, H, F})},
         2 * scores * (E + F)},
        // Packed sequences count with the longest length.
        {"aten::_flash_attention_forward",
         {t({40, H, E}), t({50, H, E}), t({50, H, F}), t({B + 1}, DType::int32),
          t({B + 1}, DType::int32), ints({S}), ints({T})},
         {tensor({40, H, F})},
         2 * scores * (E + F)},
    });
  }

  TEST_CASE("point-wise operators count their operations for each element of the result") {
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

  TEST_CASE("normalisation: 5 for each element with a weight, 4 without") {
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

  TEST_CASE("reductions count what goes in") {
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

  TEST_CASE("optimizer steps count each element of their lists") {
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

  TEST_CASE("a recurrent layer meets each weight matrix at each step") {
    constexpr std::int64_t steps = 11, in = 5, hidden = 6;
    const auto weights = list({{4 * hidden, in}, {4 * hidden, hidden}, {4 * hidden}, {4 * hidden}});
    const std::int64_t elements = 4 * hidden * (in + hidden);
    check({{"aten::_cudnn_rnn",
            {t({steps, B, in}), weights, ints({4}), nothing(), t({1, B, hidden})},
            {tensor({steps, B, hidden})},
            2 * steps * B * elements}});
  }

  TEST_CASE("views are free and copies are exact without FLOPs") {
    check({
        {"aten::view", {t({M, N}), ints({N, M})}, {tensor({N, M})}},
        {"aten::cat", {list({{M}, {N}}), ints({0})}, {tensor({M + N})}},
        {"aten::clone", {t({M})}, {tensor({M})}},
        {"aten::zeros", {ints({M})}, {tensor({M})}},
    });
    CHECK(profile::find_rule("aten::view")->confidence == Confidence::free);
    CHECK(profile::find_rule("aten::clone")->confidence == Confidence::exact);
    CHECK(profile::find_rule("aten::gelu")->confidence == Confidence::modelled);
  }

  TEST_CASE("every family has rows, and the list has no operator twice") {
    for (const profile::Family& family : profile::families) CHECK(!family.rules().empty());
    CHECK_NOTHROW(profile::RuleTable{profile::families});
    CHECK(profile::known_operators().size() > 500);
    const profile::Family twice[] = {{"matmul", profile::matmul_rules},
                                     {"again", profile::matmul_rules}};
    CHECK_THROWS_WITH_AS(profile::RuleTable{twice}, doctest::Contains("two rules for aten::mm"),
                         Error);
  }

  TEST_CASE("an in-place name finds the plain row, an operator between underscores only its own") {
    CHECK(profile::find_rule("aten::add_") == profile::find_rule("aten::add"));
    CHECK(profile::find_rule("aten::bernoulli_") != profile::find_rule("aten::bernoulli"));
    CHECK(profile::find_rule("aten::__and__"));
    CHECK_FALSE(profile::find_rule("aten::__div__"));
    CHECK_FALSE(profile::find_rule("aten::add__"));
    CHECK_FALSE(profile::find_rule("acme::fused_attention"));
  }

  TEST_CASE("a form that a rule does not cover has no estimate") {
    RecordingBuilder builder;
    builder.node("node");
    builder.call("aten::mm", {t({K}), t({K})}, {tensor({})});
    const auto& recording = builder.recording();
    const profile::Call call(recording, recording.calls.front());
    CHECK_FALSE(profile::find_rule("aten::mm")->estimate(call).has_value());
  }

  TEST_CASE("a count beyond 64 bits is an error") {
    constexpr std::int64_t m = std::int64_t{1} << 20, k = std::int64_t{1} << 30;
    const RuleCase test{"aten::mm", {t({m, k}), t({k, m})}, {tensor({1, 1})}};
    CHECK_THROWS_WITH_AS(cost_of(test), doctest::Contains("64 bits"), Error);
  }
}

}  // namespace symprof::test

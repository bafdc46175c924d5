// Outputs whose layout on CUDA differs from the CPU's, with explicit expectations.
#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <torch/csrc/autograd/function.h>

#include <memory>
#include <string>

#include "meta/fake/fake_mode.h"
#include "meta/fake/host_outputs.h"
#include "meta/fake/silent_observer.h"

namespace {

using at::IntArrayRef;
using at::Tensor;

constexpr std::int64_t B = 2, H = 3, L = 40, S = 56, D = 16, C = 8;

Tensor meta(IntArrayRef sizes, at::ScalarType dtype = at::kBFloat16) {
  return at::empty(sizes, at::TensorOptions(at::kMeta).dtype(dtype));
}

// [B, H, length, D] over memory [B, length, H, D], as from a split projection.
Tensor bshd(std::int64_t length) { return meta({B, length, H, D}).transpose(1, 2); }

void check_layout(const Tensor& found, IntArrayRef sizes, IntArrayRef strides,
                  at::ScalarType dtype) {
  REQUIRE(found.defined());
  CHECK(found.sizes() == sizes);
  CHECK(found.strides() == strides);
  CHECK((found.scalar_type() == dtype));
}

void check_dense(const Tensor& found, IntArrayRef sizes, at::ScalarType dtype) {
  REQUIRE(found.defined());
  CHECK(found.sizes() == sizes);
  CHECK(found.is_contiguous());
  CHECK((found.scalar_type() == dtype));
}

std::string error_of(void (*call)()) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_SUITE("kernel_layouts") {
  TEST_CASE("flash attention keeps the query's layout and its random state on the device") {
    const auto outputs = at::_scaled_dot_product_flash_attention(bshd(L), bshd(S), bshd(S));
    check_layout(std::get<0>(outputs), {B, H, L, D}, {L * H * D, D, H * D, 1}, at::kBFloat16);
    check_dense(std::get<1>(outputs), {B, H, L}, at::kFloat);
    CHECK_FALSE(std::get<2>(outputs).defined());
    check_dense(std::get<6>(outputs), {2}, at::kUInt64);
    check_dense(std::get<7>(outputs), {}, at::kUInt64);
    check_dense(std::get<8>(outputs), {0}, at::kBFloat16);
    const Tensor query = meta({B, H, L, D});
    check_dense(std::get<0>(at::_scaled_dot_product_flash_attention(query, query, query)),
                {B, H, L, D}, at::kBFloat16);
  }

  TEST_CASE("memory-efficient attention always returns BSHD and pads its statistics to 32 rows") {
    const Tensor query = meta({B, H, L, D}), key = meta({B, H, S, D});
    const auto [output, statistics, seed, offset] =
        at::_scaled_dot_product_efficient_attention(query, key, key, {}, true);
    check_layout(output, {B, H, L, D}, {L * H * D, D, H * D, 1}, at::kBFloat16);
    check_dense(statistics, {B, H, (L + 31) / 32 * 32}, at::kFloat);
    check_dense(seed, {}, at::kLong);
    const auto without = at::_scaled_dot_product_efficient_attention(query, key, key, {}, false);
    check_dense(std::get<1>(without), {B, H, 0}, at::kFloat);
    CHECK(symprof::meta::output_is_on_host("aten::_scaled_dot_product_efficient_attention", 2));
    CHECK_FALSE(symprof::meta::output_is_on_host("aten::_scaled_dot_product_flash_attention", 6));

    const Tensor bias = meta({B, H, L, S + 1});
    const auto gradients = at::_scaled_dot_product_efficient_attention_backward(
        output, query, key, key, bias, output, statistics, seed, offset, 0,
        {true, true, true, true});
    check_layout(std::get<1>(gradients), {B, H, S, D}, {S * H * D, D, H * D, 1}, at::kBFloat16);
    const std::int64_t row = (S + 1 + 15) / 16 * 16;
    check_layout(std::get<3>(gradients), {B, H, L, S + 1}, {H * L * row, L * row, row, 1},
                 at::kBFloat16);
  }

  TEST_CASE("cuDNN attention follows the query's stride order when the value is wider") {
    const auto outputs =
        at::_scaled_dot_product_cudnn_attention(bshd(L), bshd(S), meta({B, H, S, 2 * D}), {}, true);
    check_layout(std::get<0>(outputs), {B, H, L, 2 * D}, {L * H * 2 * D, 2 * D, H * 2 * D, 1},
                 at::kBFloat16);
    check_dense(std::get<1>(outputs), {B, H, L, 1}, at::kFloat);
    check_dense(std::get<6>(outputs), {}, at::kLong);
    CHECK_FALSE(std::get<8>(outputs).defined());
  }

  TEST_CASE("norms keep f32 statistics for bf16") {
    const Tensor x = meta({B, L, D}), w = meta({D});
    const auto [y, mean, rstd] = at::native_layer_norm(x.transpose(0, 1), {D}, w, w, 1e-5);
    check_dense(y, {L, B, D}, at::kBFloat16);
    check_dense(mean, {L, B, 1}, at::kFloat);
    check_dense(rstd, {L, B, 1}, at::kFloat);
    const auto gradients =
        at::native_layer_norm_backward(y, x, {D}, mean, rstd, w, w, {true, true, false});
    check_dense(std::get<1>(gradients), {D}, at::kBFloat16);
    CHECK_FALSE(std::get<2>(gradients).defined());

    const auto rms = at::_fused_rms_norm(x, {D}, w, 1e-5);
    check_dense(std::get<1>(rms), {B, L, 1}, at::kFloat);
  }

  TEST_CASE("batch norm: cuDNN saves nothing in evaluation, the native kernel always") {
    const Tensor image = meta({B, C, L, S}).contiguous(at::MemoryFormat::ChannelsLast);
    const Tensor w = meta({C}, at::kFloat);
    const auto trained = at::cudnn_batch_norm(image, w, w, w, w, true, 0.1, 1e-5);
    CHECK(std::get<0>(trained).is_contiguous(at::MemoryFormat::ChannelsLast));
    check_dense(std::get<1>(trained), {C}, at::kFloat);
    const auto evaluated = at::cudnn_batch_norm(image, w, w, w, w, false, 0.1, 1e-5);
    check_dense(std::get<1>(evaluated), {0}, at::kFloat);
    const auto native = at::native_batch_norm(image, w, w, w, w, false, 0.1, 1e-5);
    check_dense(std::get<2>(native), {C}, at::kFloat);
    CHECK(std::get<0>(native).is_contiguous(at::MemoryFormat::ChannelsLast));
  }

  TEST_CASE("batch norm over processes gathers f32 statistics and keeps the input's layout") {
    const Tensor image = meta({B, C, L, S}).contiguous(at::MemoryFormat::ChannelsLast);
    const Tensor w = meta({C}), gathered = meta({H, C}, at::kFloat);
    const auto [mean, deviation] = at::batch_norm_stats(image, 1e-5);
    check_dense(mean, {C}, at::kFloat);
    check_dense(deviation, {C}, at::kFloat);
    const auto global = at::batch_norm_gather_stats_with_counts(image, gathered, gathered, {}, {},
                                                                0.1, 1e-5, meta({H}));
    check_dense(std::get<0>(global), {C}, at::kFloat);
    CHECK(at::batch_norm_elemt(image, w, w, mean, deviation, 1e-5)
              .is_contiguous(at::MemoryFormat::ChannelsLast));
    const auto sums =
        at::batch_norm_backward_reduce(image, image, mean, deviation, w, true, true, false);
    check_dense(std::get<0>(sums), {C}, at::kFloat);
    check_dense(std::get<2>(sums), {C}, at::kBFloat16);
    CHECK_FALSE(std::get<3>(sums).defined());
    CHECK(at::batch_norm_backward_elemt(image, image, mean, deviation, w, mean, mean,
                                        meta({H}, at::kInt))
              .is_contiguous(at::MemoryFormat::ChannelsLast));
  }

  TEST_CASE("a grouped product of 8-bit floats is bf16, with rows aligned to 16 bytes") {
    constexpr std::int64_t columns = 12, padded = 16;
    const Tensor a = meta({L, D}, at::kFloat8_e4m3fn);
    const Tensor b = meta({H, columns, D}, at::kFloat8_e4m3fn).transpose(1, 2);
    const Tensor found = at::_scaled_grouped_mm(
        a, b, meta({L}, at::kFloat), meta({H, columns}, at::kFloat), meta({H}, at::kInt));
    check_layout(found, {L, columns}, {padded, 1}, at::kBFloat16);
  }

  TEST_CASE("group norm is contiguous, with f32 statistics only beside f32 weights") {
    const Tensor x = meta({B, C, L});
    const auto pure = at::native_group_norm(x, meta({C}), meta({C}), B, C, L, 4, 1e-5);
    check_dense(std::get<1>(pure), {B, 4}, at::kBFloat16);
    const Tensor w = meta({C}, at::kFloat);
    check_dense(std::get<1>(at::native_group_norm(x, w, w, B, C, L, 4, 1e-5)), {B, 4}, at::kFloat);
  }

  // PyTorch's Python kernels for fake tensors return another stride for the dimension of size 1.
  TEST_CASE("a batch of one after attention is not taken for channels-last") {
    const auto image = [](const at::TensorOptions& options) {
      const Tensor tokens = at::empty({1, L * S, C}, options);
      return tokens.transpose(1, 2).reshape({1, C, L, S}).add(at::empty({1, C, L, S}, options));
    };
    const Tensor in_memory = image(at::kFloat).div(2), fake = image(at::kMeta).div(2);
    CHECK(fake.strides() == in_memory.strides());
    CHECK(at::upsample_nearest2d(in_memory, {2 * L, 2 * S}).is_contiguous());
    check_dense(at::upsample_nearest2d(fake, {2 * L, 2 * S}), {1, C, 2 * L, 2 * S}, at::kFloat);
  }

  TEST_CASE("convolution gradients take the format of input and weight") {
    const Tensor image = meta({B, C, L, S}).contiguous(at::MemoryFormat::ChannelsLast);
    const Tensor weight = meta({D, C, 3, 3});
    const Tensor output = at::conv2d(image, weight);
    CHECK(output.is_contiguous(at::MemoryFormat::ChannelsLast));
    const auto gradients =
        at::convolution_backward(output.contiguous(), image, weight, IntArrayRef{D}, {1, 1}, {0, 0},
                                 {1, 1}, false, {0, 0}, 1, {true, true, true});
    CHECK(std::get<0>(gradients).is_contiguous(at::MemoryFormat::ChannelsLast));
    CHECK(std::get<1>(gradients).is_contiguous(at::MemoryFormat::ChannelsLast));
    check_dense(std::get<2>(gradients), {D}, at::kBFloat16);
    const Tensor depthwise = meta({C, 1, 3, 3});
    CHECK(at::conv2d(meta({B, C, L, S}), depthwise, {}, 1, 1, 1, C).is_contiguous());
  }

  TEST_CASE("dropout keeps one byte per element") {
    const auto [output, mask] = at::native_dropout(bshd(L), 0.1, true);
    check_layout(mask, {B, H, L, D}, {L * H * D, D, H * D, 1}, at::kBool);
    check_dense(at::native_dropout_backward(output, mask, 1 / 0.9), {B, H, L, D}, at::kBFloat16);
  }

  TEST_CASE("a reduced binary cross entropy keeps the storage of the element losses") {
    const Tensor x = meta({L, S}, at::kFloat);
    const Tensor loss = at::binary_cross_entropy(x, x);
    CHECK(loss.dim() == 0);
    CHECK(loss.storage().nbytes() == L * S * sizeof(float));
  }

  TEST_CASE("cuDNN's LSTM is time-first in memory, its weight gradients one buffer") {
    const std::int64_t gates = 4 * C;
    const Tensor x = meta({B, L, D}, at::kFloat), h = meta({1, B, C}, at::kFloat);
    const std::vector<Tensor> weights{meta({gates, D}, at::kFloat), meta({gates, C}, at::kFloat),
                                      meta({gates}, at::kFloat), meta({gates}, at::kFloat)};
    const auto [output, hy, cy, reserve, buffer] = at::_cudnn_rnn(
        x, weights, 4, {}, h, h, 2, C, 0, 1, true, 0, true, false, IntArrayRef{}, {});
    check_layout(output, {B, L, C}, {C, B * C, 1}, at::kFloat);
    check_dense(cy, {1, B, C}, at::kFloat);
    check_dense(buffer, {gates * (D + C + 2)}, at::kFloat);
    CHECK(reserve.numel() > 0);
    const auto [dx, dh, dc, dw] = at::_cudnn_rnn_backward(
        x, weights, 4, buffer, h, h, output, output, {}, {}, 2, C, 0, 1, true, 0, true, false,
        IntArrayRef{}, {}, reserve, {true, true, true, true});
    REQUIRE(dw.size() == weights.size());
    CHECK(dw[1].is_alias_of(dw[0]));
    CHECK(dw[1].sizes() == weights[1].sizes());
  }

  TEST_CASE("optimizer kernels run in place on lists") {
    const std::vector<Tensor> lists{meta({3}, at::kFloat), meta({2, 2}, at::kFloat)};
    at::_foreach_add_(lists, lists);
    at::_foreach_addcdiv_(lists, lists, lists, 0.5);
    CHECK(at::_foreach_sqrt(lists)[1].sizes() == lists[1].sizes());
    const std::vector<Tensor> steps{meta({}, at::kFloat), meta({}, at::kFloat)};
    at::_fused_adam_(lists, lists, lists, lists, {}, steps, 1e-3, 0.9, 0.99, 0, 1e-8, false, false);
    at::_fused_sgd_(lists, lists, {}, 0, 0, 0.1, 0, false, false, true);
  }

  TEST_CASE("indices of a known number of elements are column-major") {
    check_layout(at::nonzero_static(meta({L, S}), 4), {4, 2}, {1, 4}, at::kLong);
    check_dense(at::repeat_interleave(meta({3}, at::kLong), std::optional<std::int64_t>(7)), {7},
                at::kLong);
  }

  TEST_CASE("unique elements keep storage for the maximum number") {
    struct Two final : symprof::meta::SilentObserver {
      std::optional<std::int64_t> unbacked_size(std::optional<std::int64_t>) override { return 2; }
    };
    const symprof::meta::FakeMode mode({}, std::make_shared<Two>());
    const auto bytes = [](const Tensor& found) {
      CHECK(found.sizes() == IntArrayRef{2});
      return static_cast<std::int64_t>(found.storage().nbytes());
    };
    const auto numbers = at::_unique2(meta({B, L}, at::kFloat), true, true, true);
    CHECK(bytes(std::get<0>(numbers)) == B * L * 4);
    CHECK(bytes(std::get<2>(numbers)) == B * L * 8);
    const auto runs = at::unique_consecutive(meta({B, L}, at::kBool), false, true);
    CHECK(bytes(std::get<0>(runs)) == B * L);
    CHECK(bytes(std::get<2>(runs)) == B * L * 8);
    // Booleans have two values, which are counted.
    const auto truths = at::_unique2(meta({B, L}, at::kBool), true, false, false);
    CHECK(bytes(std::get<0>(truths)) == 2);
    CHECK(bytes(std::get<2>(truths)) == 2 * 8);
    CHECK(bytes(at::masked_select(meta({L}, at::kFloat), meta({L}, at::kBool))) == 2 * 4);
  }

  TEST_CASE("data-dependent operators are refused by name") {
    CHECK(error_of([] { at::nonzero(meta({3})); }).find("aten::nonzero: its output size depends") !=
          std::string::npos);
    CHECK(error_of([] { meta({}).item(); }).find("aten::_local_scalar_dense") != std::string::npos);
  }

  TEST_CASE("autograd sees fused operators where a CUDA build has them") {
    const symprof::meta::FakeMode mode({}, nullptr);
    const auto options = at::TensorOptions(at::kCUDA).dtype(at::kFloat);
    const Tensor x = at::empty({B, L, D}, options).requires_grad_();
    CHECK(at::rms_norm(x, {D}, at::empty({D}, options)).grad_fn()->name() ==
          "FusedRmsNormBackward0");

    const Tensor h = at::empty({1, B, C}, options);
    const std::vector<Tensor> weights{at::empty({4 * C, D}, options),
                                      at::empty({4 * C, C}, options), at::empty({4 * C}, options),
                                      at::empty({4 * C}, options)};
    const auto [output, hy, cy] =
        at::lstm(x, {h, h}, weights, true, 1, 0, /*train=*/true, false, /*batch_first=*/true);
    CHECK(output.grad_fn()->name() == "CudnnRnnBackward0");
    check_layout(output, {B, L, C}, {C, B * C, 1}, at::kFloat);
  }
}

// Copies of tensors in another layout by cuDNN's convolutions: the blocks that PyTorch's CUDA build
// requested with a stub CUDA driver (truth/scratch/convolution_copies.py), as formulas.
#include <doctest/doctest.h>

#include "profile/cost/scratch/cudnn_plans.h"
#include "profile/cost/scratch/cudnn_trials.h"
#include "profile/operators/operators.h"
#include "tests/support/recording_builder.h"

namespace symprof::test {
namespace {

using profile::Scratch;

constexpr std::int64_t batch = 16, from = 8, to = 24, side = 56, kernel = 3, half = 2;
constexpr std::int64_t input_bytes = batch * from * side * side * half;
constexpr std::int64_t weight_bytes = to * from * kernel * kernel * half;
constexpr std::int64_t gradient_bytes = batch * to * side * side * half;

TensorSpec image(std::int64_t n, std::int64_t c, std::int64_t size, bool channels_last) {
  TensorSpec spec = tensor({n, c, size, size}, DType::bfloat16);
  if (channels_last) spec.strides = {c * size * size, 1, c * size, c};
  return spec;
}

struct Layout {
  bool input, weight, gradient;  // True: channels last.
  bool result() const { return input || weight; }
};

void add_inputs(RecordingBuilder& builder, CallRecord& call,
                std::initializer_list<TensorSpec> specs) {
  for (const TensorSpec& spec : specs) {
    call.input_positions.push_back(static_cast<std::uint8_t>(call.inputs.size()));
    call.inputs.push_back(builder.fresh(spec));
  }
}

Scratch scratch_of(const std::string& op, RecordingBuilder& builder, const CallRecord& call) {
  const Recording& recording = builder.recording();
  return profile::find_operator(op).scratch(profile::Call(recording, call), DeviceSpec{});
}

std::vector<std::int64_t> forward_blocks(const Layout& layout) {
  RecordingBuilder builder;
  CallRecord call;
  add_inputs(builder, call,
             {image(batch, from, side, layout.input), image(to, from, kernel, layout.weight)});
  call.integers.push_back({8, 1});
  call.outputs = {builder.fresh(image(batch, to, side, layout.result()))};
  return scratch_of("aten::convolution", builder, call).blocks;
}

std::vector<std::int64_t> backward_blocks(const Layout& layout) {
  RecordingBuilder builder;
  CallRecord call;
  add_inputs(builder, call,
             {image(batch, to, side, layout.gradient), image(batch, from, side, layout.input),
              image(to, from, kernel, layout.weight)});
  call.integers = {{9, 1}, {10, 1}, {10, 1}, {10, 0}};
  call.outputs = {builder.fresh(image(batch, from, side, layout.result())),
                  builder.fresh(image(to, from, kernel, layout.result()))};
  return scratch_of("aten::convolution_backward", builder, call).blocks;
}

using Blocks = std::vector<std::int64_t>;

TEST_SUITE("convolution_copies") {
  TEST_CASE("tensors of one layout are not copied") {
    for (const bool last : {false, true}) {
      CHECK(forward_blocks({last, last, last}) == Blocks{});
      CHECK(backward_blocks({last, last, last}) == Blocks{});
    }
  }

  TEST_CASE("a gradient in another layout is copied for the backward pass") {
    CHECK(backward_blocks({false, false, true}) == Blocks{gradient_bytes});
    CHECK(backward_blocks({true, true, false}) == Blocks{gradient_bytes});
  }

  TEST_CASE("the input or the weight alone selects channels last") {
    CHECK(forward_blocks({false, true, true}) == Blocks{input_bytes});
    CHECK(backward_blocks({false, true, true}) == Blocks{input_bytes});
    CHECK(backward_blocks({false, true, false}) == Blocks{input_bytes, gradient_bytes});
    CHECK(forward_blocks({true, false, true}) == Blocks{weight_bytes});
    CHECK(backward_blocks({true, false, false}) == Blocks{gradient_bytes, weight_bytes});
  }
}

/// A device with observed cuDNN plans.
DeviceSpec seen_device() {
  DeviceSpec device;
  device.cudnn_copies_operands = true;
  device.multiprocessors = 132;
  return device;
}

std::int64_t plan(profile::PlanPass pass, const TensorSpec& input, const TensorSpec& weight,
                  const TensorSpec& output, const DeviceSpec& device = seen_device()) {
  return profile::plan_workspace_bytes(pass, {input, weight, output, false, 1}, device);
}

std::int64_t trial(profile::PlanPass pass, const TensorSpec& input, const TensorSpec& weight,
                   const TensorSpec& output, const profile::ConvolutionWindow& window,
                   const DeviceSpec& device = seen_device()) {
  return profile::trial_workspace_bytes(pass, {input, weight, output, false, 1}, window, device);
}

TEST_SUITE("cudnn_plans") {
  using enum profile::PlanPass;

  TEST_CASE("a plan copies operands to channels last, and has partial sums of a weight gradient") {
    const TensorSpec input = tensor({48, 256, 64, 64}), weight = tensor({256, 256, 3, 3});
    const std::int64_t copies = 2 * input.bytes() + weight.bytes();
    CHECK(plan(forward, input, weight, input) == copies);
    CHECK(plan(data_gradient, input, weight, input) == copies);
    // 2 x 2 tiles of 128 x 128 for each of 9 positions: a split of 3 keeps 132 multiprocessors
    // busy.
    const std::int64_t tile = 128 * 128 * 4;
    CHECK(plan(weight_gradient, input, weight, input) == copies + 132 / 36 * 36 * tile);
    CHECK(plan(forward, input, weight, input, DeviceSpec{}) == 0);
    // 8 images of 14 x 14 positions are too few for a split.
    const TensorSpec few = tensor({8, 256, 14, 14});
    CHECK(plan(weight_gradient, few, weight, few) == 2 * few.bytes() + weight.bytes());
  }

  TEST_CASE("a 1x1 window is a product, and its weight gradient one per image") {
    const TensorSpec input = tensor({32, 512, 28, 28}, DType::bfloat16),
                     weight = tensor({256, 512, 1, 1}, DType::bfloat16),
                     output = tensor({32, 256, 28, 28}, DType::bfloat16);
    CHECK(plan(forward, input, weight, output) == 0);
    CHECK(plan(weight_gradient, input, weight, output) == 32 * 256 * 512 * 4);
    // If that takes more than copies, or a channel's 7 x 7 positions are not aligned.
    const TensorSpec small = tensor({32, 512, 7, 7}, DType::bfloat16),
                     wide = tensor({2048, 512, 1, 1}, DType::bfloat16),
                     result = tensor({32, 2048, 7, 7}, DType::bfloat16);
    CHECK(plan(forward, small, wide, result) == small.bytes() + result.bytes());
  }

  TEST_CASE("images of few channels with a small window are read in place") {
    const TensorSpec input = tensor({8, 3, 224, 224}), weight = tensor({64, 3, 3, 3}),
                     output = tensor({8, 64, 224, 224});
    CHECK(plan(forward, input, weight, output) == 0);
    CHECK(plan(data_gradient, input, weight, output) == 0);
    const TensorSpec stem = tensor({64, 3, 7, 7}), half_size = tensor({8, 64, 112, 112});
    CHECK(plan(forward, input, stem, half_size) ==
          input.bytes() + stem.bytes() + half_size.bytes());
  }

  TEST_CASE("the benchmark tries FFTs in fp32: of whole planes, twice, or of tiles") {
    const TensorSpec x = tensor({4, 64, 56, 56}), w = tensor({128, 64, 3, 3}),
                     y = tensor({4, 128, 56, 56});
    const profile::ConvolutionWindow padded{{1, 1}, {1, 1}};
    const std::int64_t n = 4, in = 64, out = 128, plane = 64 * 33 * 8, tile = 32 * 17 * 8;
    CHECK(trial(forward, x, w, y, padded) ==
          2 * plane * std::max(n * out, n * in + in * out) + w.bytes());
    CHECK(trial(weight_gradient, x, w, y, padded) ==
          2 * plane * std::max(in * out, n * (in + out)) + y.bytes());
    CHECK(trial(data_gradient, x, w, y, padded) == tile * (in * out + 2 * n * (in + out)));
    // A plane covered by one tile.
    const TensorSpec small_x = tensor({4, 64, 14, 14}), small_y = tensor({4, 128, 14, 14});
    CHECK(trial(data_gradient, small_x, w, small_y, padded) == tile * (in * out + n * (in + out)));
  }

  TEST_CASE(
      "in half precision the benchmark tries copies of all operands, and weight partial sums") {
    const auto half = [](std::vector<std::int64_t> sizes) {
      return tensor(std::move(sizes), DType::bfloat16);
    };
    const TensorSpec x = half({4, 62, 56, 56}), w = half({128, 62, 3, 3}),
                     y = half({4, 128, 56, 56});
    const profile::ConvolutionWindow padded{{1, 1}, {1, 1}};
    const std::int64_t copies = (x.bytes() + w.bytes()) / 62 * 64 + y.bytes();
    CHECK(trial(forward, x, w, y, padded) == copies);
    const std::int64_t for_each_multiprocessor = std::int64_t{132} * (128 << 10);
    CHECK(trial(weight_gradient, x, w, y, padded) == copies + for_each_multiprocessor);
    CHECK(trial(forward, x, w, y, padded, DeviceSpec{}) == 0);
  }

  TEST_CASE("a recurrent layer's workspace: weights, all steps, and per-layer buffers") {
    profile::RecurrentSizes sizes{.steps = 64, .batch = 32, .width = 512, .hidden = 768};
    const auto bytes = [&](std::int64_t number = 2) {
      return profile::recurrent_workspace_bytes(sizes, number, seen_device());
    };
    const std::int64_t row = 32 * 768, weights = 4 * 768 * (512 + 768), input = 32 * 512;
    const std::int64_t of_layer = (8 << 20) + 512;
    CHECK(bytes() == of_layer + 2 * (weights + 10 * row + 64 * (5 * row + input)));
    sizes.steps = 300;  // Gates of 256 steps.
    CHECK(bytes() == of_layer + 2 * (weights + 10 * row + 300 * (row + input) + 256 * 4 * row));
    sizes.is_training = true;  // The backward pass needs more for 300 steps.
    CHECK(bytes() == of_layer + 2 * (weights + 11 * row + 300 * (4 * row + 2 * input)));
    CHECK_FALSE(profile::recurrent_workspace_bytes(sizes, 2, DeviceSpec{}));
    sizes.hidden = 192;  // In fp32 another algorithm, without a formula.
    CHECK_FALSE(bytes(4));
    CHECK(bytes(2));
  }
}

}  // namespace
}  // namespace symprof::test

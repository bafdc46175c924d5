// Copies that cuDNN's convolutions make of tensors which lie otherwise: the blocks that PyTorch's
// CUDA build asked for on a GPU that computes nothing (truth/scratch/convolution_copies.py), as
// formulas.
#include <doctest/doctest.h>

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
  bool input, weight, gradient;  // Whether channels lie last.
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

  TEST_CASE("a gradient that lies otherwise is copied for the backward pass") {
    CHECK(backward_blocks({false, false, true}) == Blocks{gradient_bytes});
    CHECK(backward_blocks({true, true, false}) == Blocks{gradient_bytes});
  }

  TEST_CASE("the input or the weight alone asks for channels last") {
    CHECK(forward_blocks({false, true, true}) == Blocks{input_bytes});
    CHECK(backward_blocks({false, true, true}) == Blocks{input_bytes});
    CHECK(backward_blocks({false, true, false}) == Blocks{input_bytes, gradient_bytes});
    CHECK(forward_blocks({true, false, true}) == Blocks{weight_bytes});
    CHECK(backward_blocks({true, false, false}) == Blocks{gradient_bytes, weight_bytes});
  }
}

}  // namespace
}  // namespace symprof::test

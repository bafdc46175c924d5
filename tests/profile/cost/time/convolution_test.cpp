#include <doctest/doctest.h>

#include "tests/support/launches.h"

namespace symprof::test::convolution_launches_test {

using namespace symprof::profile;

constexpr auto half = DType::bfloat16;

TEST_SUITE("convolution_launches") {
  TEST_CASE("a convolution uses TF32 if available, and adds its bias in a kernel") {
    const std::vector<TestArgument> arguments = {t({2, 3, 8, 8}), t({4, 3, 3, 3}), t({4}),
                                                 ints({1, 1}),    ints({1, 1}),    ints({1, 1}),
                                                 ints({0}),       ints({0, 0}),    ints({1})};
    const auto launches = launches_of("aten::convolution", arguments, {tensor({2, 4, 8, 8})});
    REQUIRE(launches->kernels.size() == 2);
    const ConvolutionWork work{.batch = 2,
                               .in_channels = 3,
                               .out_channels = 4,
                               .in = 64,
                               .out = 64,
                               .window = 9,
                               .is_winograd = true};
    CHECK(launches->kernels[0] == Kernel{TimeClass::convolution_tf32, work});
    CHECK(launches->kernels[1].work == Work(StreamWork{2 * 4 * 2 * 4 * 64}));
    const auto old = launches_of("aten::convolution", arguments, {tensor({2, 4, 8, 8})},
                                 device_with({"float32"}));
    CHECK(old->kernels[0].time_class == TimeClass::convolution_fp32);
    RecordingBuilder b;
    b.call("aten::convolution", arguments, {tensor({2, 4, 8, 8})}, b.node("node"));
    b.recording().calls.back().tf32_convolutions = false;
    CHECK(launches_of(b)->kernels[0].time_class == TimeClass::convolution_fp32);
  }

  TEST_CASE("a convolution's backward has a kernel per requested gradient") {
    const auto passes = [](std::vector<std::int64_t> mask) {
      const auto launches = launches_of(
          "aten::convolution_backward",
          {t({2, 4, 4, 4}), t({2, 3, 8, 8}), t({4, 3, 3, 3}), ints({4}), ints({2, 2}), ints({1, 1}),
           ints({1, 1}), ints({0}), ints({0, 0}), ints({1}), ints(std::move(mask))},
          {tensor({2, 3, 8, 8}), tensor({4, 3, 3, 3}), tensor({4})});
      std::vector<ConvolutionPass> result;
      for (const Kernel& kernel : launches->kernels)
        if (const auto* work = std::get_if<ConvolutionWork>(&kernel.work)) {
          CHECK_FALSE(work->is_winograd);  // It has a stride.
          result.push_back(work->pass);
        }
      return result;
    };
    using enum ConvolutionPass;
    CHECK(passes({1, 1, 1}) == std::vector{data_gradient, weight_gradient});
    CHECK(passes({0, 1, 0}) == std::vector{weight_gradient});
  }

  TEST_CASE("depthwise: PyTorch's kernels for row-major, cuDNN's for channels last") {
    const auto class_on = [](bool channels_last, int groups, DType dtype, int major = 9) {
      DeviceSpec device = modern_device();
      device.compute_major = major;
      TensorSpec input = tensor({8, 32, 14, 14}, dtype), output = input;
      if (channels_last) input.strides = output.strides = {32 * 196, 1, 14 * 32, 32};
      RecordingBuilder b;
      b.call("aten::convolution",
             {TestArgument{{input}, {}}, t({32, 32 / groups, 3, 3}, dtype), nothing(), ints({1, 1}),
              ints({1, 1}), ints({1, 1}), ints({0}), ints({0, 0}), ints({groups})},
             {output}, b.node("node"));
      return launches_of(b, device)->kernels.at(0).time_class;
    };
    CHECK(class_on(false, 32, DType::float32) == TimeClass::depthwise);
    CHECK(class_on(false, 32, half) == TimeClass::depthwise);
    CHECK(class_on(false, 32, DType::float16) == TimeClass::convolution_16bit);
    CHECK(class_on(true, 32, half) == TimeClass::depthwise_cudnn);
    CHECK(class_on(true, 32, half, 8) == TimeClass::convolution_16bit);
    CHECK(class_on(false, 4, DType::float32) == TimeClass::convolution_tf32);
  }

  TEST_CASE("in half precision a table lists cuDNN's row-major depthwise convolutions") {
    // As recorded kernels of an H200 are named (truth/h200/kernel_record).
    struct Case {
      std::int64_t batch, channels, size;
      int filter, stride, dilation;
      bool is_native;
    };
    for (const Case& c : {Case{64, 512, 32, 3, 1, 1, false}, Case{64, 128, 56, 5, 1, 1, false},
                          Case{64, 384, 14, 7, 1, 1, true}, Case{16, 64, 64, 9, 1, 1, true},
                          Case{64, 144, 56, 3, 2, 1, true}, Case{64, 672, 14, 5, 2, 1, false},
                          Case{64, 256, 28, 3, 2, 1, false}, Case{64, 256, 14, 3, 2, 1, true},
                          Case{1, 144, 56, 3, 2, 1, false}, Case{64, 16, 56, 3, 1, 1, true},
                          Case{64, 512, 5, 3, 1, 1, true}, Case{64, 512, 32, 3, 1, 2, true}}) {
      const auto groups = static_cast<int>(c.channels);
      RecordingBuilder b;
      b.call("aten::convolution",
             {TestArgument{{tensor({c.batch, c.channels, c.size, c.size}, DType::float16)}, {}},
              t({c.channels, 1, c.filter, c.filter}, DType::float16), nothing(),
              ints({c.stride, c.stride}), ints({1, 1}), ints({c.dilation, c.dilation}), ints({0}),
              ints({0, 0}), ints({groups})},
             {tensor({c.batch, c.channels, c.size / c.stride, c.size / c.stride}, DType::float16)},
             b.node("node"));
      CAPTURE(c.channels);
      CAPTURE(c.filter);
      CHECK(launches_of(b, modern_device())->kernels.at(0).time_class ==
            (c.is_native ? TimeClass::depthwise : TimeClass::convolution_16bit));
    }
  }
}

}  // namespace symprof::test::convolution_launches_test
